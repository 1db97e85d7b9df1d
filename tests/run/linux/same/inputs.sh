# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Typed commands, a network and a shared folder in one session of the generic kernel, at the times of
# the host. Its replay on each path of the CPU writes the same file.
mkdir "$dir/www" "$dir/folder"
head -c 1000000 /dev/urandom >"$dir/www/file"
seq 1 200000 >"$dir/folder/big"
cp /bin/busybox "$dir/folder/echo"
file_sum=$(md5sum <"$dir/www/file")
big_sum=$(md5sum <"$dir/folder/big")

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# typed PORT: the commands, with pauses in which the guest waits.
typed() {
	cat <<-X
		cd /mod
		for m in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci failover net_failover virtio_net; do insmod \$m.ko; done
		for m in netfs fscache 9pnet 9pnet_virtio 9p; do insmod \$m.ko; done
		ip link set eth0 up; ip addr add 10.0.2.15/24 dev eth0; ip route add default via 10.0.2.2
		mount -t 9p -o trans=virtio,version=9p2000.L share /mnt; echo shell=\$((6 * 7))
	X
	sleep 1
	cat <<-X
		(md5sum </mnt/big; /mnt/echo from the folder) & wget -q -O - http://10.0.2.2:$1/file | md5sum; wait
		echo from the guest | nc -l -p 80
	X
	sleep 1
	echo "cat /proc/uptime; poweroff -f"
}

# ask PORT: connect to the guest until it listens.
ask() {
	local i
	for i in $(seq 1200); do
		echo from the host | busybox nc -w 10 127.0.0.1 "$1" 2>/dev/null | grep . && return
		sleep 0.1
	done
}

# kinds KIND: the number of such inputs in record.vpt.
kinds() {
	"$VPT" info -j "$dir/record$1.vpt" | jq "[.input_list[] | select(.kind == \"$2\")] | length"
}

# shows TEXT: a line of the guest's console.
shows() {
	tr -d '\r' <"$dir/record$1.con" | grep -qF "$2" || { echo "no line: $2" && return 1; }
}

# record CPUS: the session, unless it is there. The guest has all that the host sent.
record() {
	local client forward server port
	[ ! -e "$dir/record$1.vpt" ] || return 0
	forward=$(free_port)
	port=$(free_port)
	busybox httpd -f -p "127.0.0.1:$port" -h "$dir/www" >/dev/null 2>&1 &
	server=$!
	ask "$forward" >"$dir/client" &
	client=$!
	with "$VPT" "record$1" "$generic" shell --cpus="$1" --net="user,hostfwd=tcp::$forward-:80" \
		--share="$dir/folder" --input=- < <(typed "$port")
	kill $server
	wait $client
	shows "$1" "$file_sum" && shows "$1" "$big_sum" && shows "$1" "from the folder" &&
		shows "$1" "from the host" && grep -qx "from the guest" "$dir/client" &&
		[ "$(kinds "$1" network)" -ge 600 ] && [ "$(kinds "$1" folder)" -ge 30 ] &&
		[ "$(kinds "$1" console)" -ge 3 ]
}

# again CPUS NAME: a replay on a path.
again() {
	record "$1" && replay "${paths[$2]}" other "record$1" && same "record$1" other
}

for cpus in 1 4; do
	row "$cpus vCPUs: a session with commands, a network and a folder" record $cpus
	for name in "${names[@]}"; do
		row "$cpus vCPUs: its replay as $name is the same" again $cpus "$name"
	done
	rm -f "$dir"/*.vpt
done
