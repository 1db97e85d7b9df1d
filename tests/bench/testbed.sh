#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What PT in Bochs costs: Debian's kernel boots and starts 200 programs, in Bochs as it
# comes and in ours, in turn, and in ours with perf tracing all of it after the boot.
# Prints a table and writes build/bench-testbed.json: processor seconds, the best of
# BENCH_ROUNDS.
set -eu
cd "$(dirname "$0")/../.."
rounds=${BENCH_ROUNDS:-3}
O=${O:-build/${MODE:-rel}}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

plain=$(patches/tools/testbed --plain)/bochs
ours=$(patches/tools/testbed)/bochs
cat >"$work/load" <<'END'
#!/bin/sh
i=0
while [ $i -lt 100 ]; do
	/bin/busybox true | /bin/busybox cat
	i=$((i + 1))
done
END
chmod +x "$work/load"
echo ./load >"$work/off"
echo './traced ./load | tee /dev/console | grep -q "[1-9][0-9]* bytes"' >"$work/on"
for kind in off on; do
	tests/testbed/image --run "$work/$kind" --add "$work/load" --add "$O/testbed/traced" "$work/$kind.iso"
done

# Processor seconds that one boot took.
seconds() { # BOCHS IMAGE
	local start end
	start=$(awk '{ print $16 + $17 }' /proc/$$/stat)
	VPT_BOCHS=$1 tests/testbed/run --time 120 "$2" "$work/dir" >"$work/log" || {
		cat "$work/log" >&2
		return 1
	}
	end=$(awk '{ print $16 + $17 }' /proc/$$/stat)
	awk -v t=$((end - start)) -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.2f\n", t / hz }'
}

best() { sort -n "$work/$1.s" | head -n 1; }

for _ in $(seq "$rounds"); do
	seconds "$plain" "$work/off.iso" >>"$work/plain.s"
	seconds "$ours" "$work/off.iso" >>"$work/off.s"
	seconds "$ours" "$work/on.iso" >>"$work/on.s"
done
bytes=$(sed -n 's/.*traced: \([0-9]*\) bytes.*/\1/p' "$work/dir/serial.log" | tail -n 1)
awk -v plain="$(best plain)" -v off="$(best off)" -v on="$(best on)" -v bytes="$bytes" '
function row(name, value) {
	printf "%-44s %8.2f s %8.3f\n", name, value, value / plain
	json = json sprintf("%s{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"s\", " \
		"\"against\": \"Bochs 3.0\", \"ratio\": %.3f}", json ? ",\n " : "", name, value, value / plain)
}
BEGIN {
	row("boot and programs, Bochs as it comes", plain)
	row("boot and programs, PT not used", off)
	row("boot and programs, programs traced", on)
	printf "%d bytes of trace\n", bytes
	printf "[%s]\n", json >"build/bench-testbed.json"
}'
