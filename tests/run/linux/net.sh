#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's generic kernel with a network: it gets its address by DHCP, a file from a server of this
# host, and a line on a forwarded port. All of it is what ran, and a replay without the servers writes
# the same file.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/run/linux/initrd.sh

linux=$(patches/tools/guest) || exit 1
generic=$(patches/tools/kernel generic) || exit 1
mkdir -p "$dir/own/net"
cp "$generic"/*.ko "$dir/own/net"
linux_initrd

# A server of files, which says its port, and a client of the guest's port.
mkdir "$dir/www"
head -c 2000000 /dev/urandom >"$dir/www/file"
sum=$(md5sum <"$dir/www/file")
cat >"$dir/server.py" <<'END'
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_port, flush=True)
server.serve_forever()
END
python3 "$dir/server.py" "$dir/www" >"$dir/port" 2>/dev/null &
server=$!
cat >"$dir/client.py" <<'END'
import socket, sys, time
for _ in range(600):
    try:
        with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 40) as s:
            s.sendall(b"from the host\n")
            s.shutdown(socket.SHUT_WR)
            line = s.makefile().readline()
        if line:
            print(line.strip())
            break
    except OSError:
        pass
    time.sleep(0.1)
END
# A port that was free.
forward=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
for _ in $(seq 100); do
	[ ! -s "$dir/port" ] || break
	sleep 0.1
done
port=$(cat "$dir/port")
cat >"$dir/commands" <<END
cd /net; for m in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci failover net_failover virtio_net; do insmod \$m.ko; done
ip link set eth0 up; udhcpc -i eth0 -n -q -s /bin/true 2>&1 | grep lease
ip addr add 10.0.2.15/24 dev eth0; ip route add default via 10.0.2.2
wget -q -O - http://10.0.2.2:$port/file | md5sum
echo from the guest | nc -l -p 80
poweroff -f
END

# boot NAME ARG...: run it; the console goes to NAME.con. Sets $status.
boot() {
	name=$1
	shift
	python3 "$dir/client.py" "$forward" >"$dir/$name.client" &
	client=$!
	"$VPT" run -q --engine=soft --no-reboot --timeout=200 --mem=512M --initrd="$dir/initrd" \
		--net="user,hostfwd=tcp::$forward-:80" --input="$dir/commands" --console="$dir/$name.con" \
		--append="console=ttyS0 loglevel=0 panic=-1 rdinit=/vpt-init shell" \
		"$@" "$generic/vmlinuz" 2>"$dir/$name.err"
	status=$?
	wait $client
	tr -d '\r' <"$dir/$name.con" >"$dir/$name.txt"
	tap_run "$name: Linux powers off, and what --verify compares is the same" test "$status" -eq 0
	tap_run "$name: a lease" grep -q "lease of 10.0.2.15 obtained from 10.0.2.2" "$dir/$name.txt"
	tap_run "$name: the file of the host" grep -qF "$sum" "$dir/$name.txt"
	tap_run "$name: a line from the host" grep -qx "from the host" "$dir/$name.txt"
	tap_run "$name: a line from the guest" grep -qx "from the guest" "$dir/$name.client"
}

boot one --pt=host -o "$dir/one.vpt"
boot four --pt=host --cpus=4 -o "$dir/four.vpt"
boot verified --pt=host --verify
kill $server
# 2 MB are at least 1300 frames.
tap_run "the frames are in the file" test "$("$VPT" info -j "$dir/one.vpt" |
	jq '[.input_list[] | select(.kind == "network")] | length')" -gt 1300
for name in one four; do
	"$VPT" replay -q -o "$dir/again.vpt" --console="$dir/again.con" "$dir/$name.vpt" 2>"$dir/again.err"
	tap_run "$name: the replay writes the same file" cmp "$dir/$name.vpt" "$dir/again.vpt"
	tap_run "$name: and prints the same" cmp "$dir/$name.con" "$dir/again.con"
done

# Nothing is outside for a guest whose network is restricted.
sed -i '/udhcpc/d; s/^wget.*/wget -q -T 3 -O - http:\/\/10.0.2.2:'"$port"'\/file || echo restricted/; /nc -l/d' "$dir/commands"
python3 "$dir/server.py" "$dir/www" >"$dir/port" 2>"$dir/server.err" &
server=$!
"$VPT" run -q --engine=soft --no-reboot --timeout=100 --mem=512M --initrd="$dir/initrd" --net=user,restrict --pt=off \
	--input="$dir/commands" --console="$dir/restricted.con" \
	--append="console=ttyS0 loglevel=0 panic=-1 rdinit=/vpt-init shell" "$generic/vmlinuz" 2>/dev/null
kill $server
tap_run "restrict: no connection" grep -q "^restricted" "$dir/restricted.con"
tap_run "restrict: no request came" test ! -s "$dir/server.err"

refuses "another kind of network" "$USAGE" "not user" run --net=tap "$generic/vmlinuz"
refuses "a forward without a port" "$USAGE" "hostfwd" run --net=user,hostfwd=tcp::-:80 "$generic/vmlinuz"
refuses "a port that is too high" "$USAGE" "hostfwd" run --net=user,hostfwd=tcp::65536-:80 "$generic/vmlinuz"
refuses "an address that is none" "$USAGE" "hostfwd" run --net=user,hostfwd=udp:1.2.3:5-:80 "$generic/vmlinuz"
refuses "an address of another machine" "$HOST" "192.0.2.1 port 80" run --mem=512M --engine=soft --pt=off \
	--net=user,hostfwd=tcp:192.0.2.1:80-:80 "$generic/vmlinuz"
refuses "a snapshot" "$USAGE" "not with --net" run --mem=512M --engine=soft --pt=off --net=user --snapshot="$dir/s.vps" \
	--snapshot-at=1000 "$generic/vmlinuz"
tap_end
