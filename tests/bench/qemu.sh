#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What PT costs a guest of QEMU: Debian's kernel boots and powers off, in turn in Debian's
# QEMU, in ours with PT that nobody uses, in ours with the whole boot traced through ToPA
# tables into a ring, and in Debian's with a plugin that counts blocks. Prints a table and
# writes build/bench-qemu.json: seconds of the processor that QEMU used, the best of
# BENCH_ROUNDS. VPT_QEMU=FILE takes another build with PT, VPT_QEMU_PLAIN=FILE without,
# which has qemu-plugin.h beside it.
set -eu
cd "$(dirname "$0")/../.."
rounds=${BENCH_ROUNDS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

plain=${VPT_QEMU_PLAIN:-$(patches/tools/qemu --plain)/qemu-system-x86_64}
ours=${VPT_QEMU:-$(patches/tools/qemu)/qemu-system-x86_64}
gcc -O2 -shared -fPIC -I"$(dirname "$plain")" -o "$work/blocks.so" tests/qemu/lib/blocks.c

# What the ring has taken is asked when the guest has ended and QEMU has not.
cat >"$work/host" <<'EOF_HOST'
host() {
	wait_event SHUTDOWN
	if grep -q vpt-recording machine/command; then
		qmp x-query-vpt >recording
	fi
	qmp quit
	machine_ended
}
EOF_HOST
echo : >"$work/guest"

names=(plain absent unused traced plugin)
declare -A what=(
	[plain]="Debian's QEMU"
	[absent]="ours, a CPU without PT"
	[unused]="ours, PT not used"
	[traced]="ours, whole boot traced to a ring"
	[plugin]="Debian's, plugin that counts blocks"
)
options_of() { # NAME
	case $1 in
	plain) options=(--qemu "$plain" --pt off --) ;;
	plugin) options=(--qemu "$plain" --pt off -- -plugin "$work/blocks.so") ;;
	absent) options=(--qemu "$ours" --pt off --) ;;
	unused) options=(--qemu "$ours" --) ;;
	traced) options=(--qemu "$ours" --pt off -- -object vpt-recording,id=bench,ring-size=4M) ;;
	esac
}

# Seconds of the processor that one boot took.
seconds() { # NAME
	local options
	options_of "$1"
	tests/qemu/run --out "$work/$1" --time 120 --host "$work/host" "${options[@]}" \
		-no-shutdown >"$work/log" 2>&1 || {
		cat "$work/log" >&2
		return 1
	}
	sed -n 2p "$work/$1/machine/times" | tr 'ms' '  ' | awk '{ printf "%.2f\n", $1 * 60 + $2 + $3 * 60 + $4 }'
}

for _ in $(seq "$rounds"); do
	for name in "${names[@]}"; do seconds "$name" >>"$work/$name.s"; done
done
# Whole rings are counted: that is exact to 4 MB.
bytes=$(sed -n 's/.*"vcpus": \[{[^}]*"bytes": \([0-9]*\).*/\1/p' "$work/traced/recording")
insns=$(sed -n 's/^blocks [0-9]* insns //p' "$work/plugin/stderr.log")
[ "${bytes:-0}" -gt 1000000 ] || {
	echo "bench: the traced boot has left no trace" >&2
	exit 1
}
mkdir -p build
for name in "${names[@]}"; do
	printf '%s\t%s\t%s\n' "$(sort -n "$work/$name.s" | head -n 1)" \
		"$(sort -n "$work/$name.s" | sed -n "$(((rounds + 1) / 2))p")" "${what[$name]}"
done | awk -F '\t' -v bytes="$bytes" -v insns="$insns" '
	NR == 1 { against = $1 }
	{
		printf "boot, %-40s %7.2f s (median %.2f) %7.3f\n", $3, $1, $2, $1 / against
		json = json sprintf("%s{\"name\": \"boot, %s\", \"value\": %.2f, \"unit\": \"s\", " \
			"\"against\": \"Debian QEMU\", \"ratio\": %.3f}", json ? ",\n " : "", $3, $1, $1 / against)
	}
	END {
		printf "%.0f MB of trace, to the last 4; %.0f million instructions, REP iterations too\n",
			bytes / 1048576, insns / 1e6
		printf "[%s]\n", json >"build/bench-qemu.json"
	}'
