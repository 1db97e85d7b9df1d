# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# SIGINT ends a run with a log of blocks in the middle of its work: instructions with REP, ports and
# page faults on each vCPU. Where the signal stopped the host's code must not be in the log.
cat >"$dir/work" <<'X'
while :; do head -c 8000000 /dev/zero >/tmp/z; done &
while :; do (head -c 300000 /bin/busybox | gzip | md5sum >/tmp/y); done &
echo work=$((6 * 7)); while :; do cat /proc/cpuinfo; done
X

ask() {
	timeout 60 "$VPT" monitor "$dir/sock" "$@" >/dev/null
}

size() {
	stat -c %s "$dir/stopped.vpt.part" 2>/dev/null || echo 0
}

# interrupted CPUS BYTES: a run that is traced until its file has so many bytes, and its replay.
interrupted() {
	local run tries from
	rm -f "$dir/stopped.con"
	"$VPT" run -q --engine=soft --no-reboot --mem=512M --initrd="$dir/initrd" --pt=host --cpus="$1" \
		--oracle-blocks --trace-later --monitor="$dir/sock" --input="$dir/work" -o "$dir/stopped.vpt" \
		--console="$dir/stopped.con" --append="console=ttyS0 loglevel=0 rdinit=/vpt-init shell" \
		"$linux/vmlinuz" 2>"$dir/stopped.err" &
	run=$!
	for tries in $(seq 1200); do
		! grep -qa "^work=42" "$dir/stopped.con" 2>/dev/null || break
		sleep 0.1
	done
	[ "$tries" -lt 1200 ] || echo "the guest does not work"
	from=$(size)
	ask trace-start
	for tries in $(seq 6000); do
		[ $(($(size) - from)) -lt "$2" ] || break
		sleep 0.01
	done
	kill -INT $run
	wait $run
	cat "$dir/stopped.err"
	"$VPT" info -j "$dir/stopped.vpt" >"$dir/stopped.json"
	[ "$(jq '[.vcpus[].sessions[].insns] | add' "$dir/stopped.json")" -ge 100000 ] || return 1
	[ "$(jq '[.input_list[] | select(.kind == "signal")] | length' "$dir/stopped.json")" -eq 1 ] || return 1
	"$VPT" verify -q "$dir/stopped.vpt" || return 1
	"$VPT" replay -q -o "$dir/other.vpt" --console="$dir/other.con" "$dir/stopped.vpt" </dev/null 2>&1
	# A run that is ending drops the console.
	cmp "$dir/stopped.vpt" "$dir/other.vpt" && cmp -n "$(stat -c %s "$dir/stopped.con")" "$dir/stopped.con" "$dir/other.con"
}

for cpus in 1 4; do
	for bytes in 2000000 3000000 5000000 8000000 13000000 21000000; do
		row "$cpus vCPUs: the replay of a run that a signal ended after $bytes bytes" interrupted $cpus $bytes
	done
done
