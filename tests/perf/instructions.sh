#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every payload with one configuration of tests/perf/configs: the instructions that perf
# finds in an export are those that ran, and perf reports no error but an overflow for each
# OVF packet, or FUP.BuffOvf of RTIT.
# What perf cannot do is in tests/perf/exceptions; that it still cannot is tested, too.
# usage: instructions.sh CONFIGURATION [PAYLOAD...]
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
config=$1
shift
# perf would read the settings of whoever runs the test.
export HOME="$dir" PERF_CONFIG=/dev/null
# perf has been seen not to end, and to write until it is stopped.
ulimit -f 1048576
# As much of a payload as this is enough: some run for millions.
MOST=400000

line=$(awk -v name="$config" '$1 == name { $1 = ""; print }' tests/perf/configs)
if [ -z "$line" ]; then
	tap_fail "tests/perf/configs has $config"
	tap_end
fi
read -r owner model arguments <<EOF2
${line%%|*}
EOF2
export_arguments=${line#*|}
# Without TNT packets there are IPs of packets only, and a line that says so.
tool=$TOOLS/perf-same
note=
case " $arguments " in
*" --no-tnt "*)
	tool=$TOOLS/perf-targets
	note="DisTNT, or no BranchEn"
	;;
esac

# The reason for which perf cannot do it, from tests/perf/exceptions, or nothing.
exception() { # PAYLOAD
	awk -F '\t' -v config="$config" -v payload="$1" '
	/^#/ { next }
	($1 == "*" || index("," $1 ",", "," config ",")) && ($2 == payload || $2 == "*") { print $3; exit }
	' tests/perf/exceptions
}

# What can change in a trace of this payload: processes, or code?
changes() { # TRACE
	"$VPT" export --to perf "$1" "$dir/auto" >"$dir/auto.log" 2>&1
	rm -rf "$dir/auto"
	! grep -q 'switches: [01], changes of code: 0' "$dir/auto.log"
}

failed() { # PAYLOAD WHY
	reason=$(exception "$1")
	if [ -n "$reason" ]; then
		exceptions=$((exceptions + 1))
		tap_ok "$1, $config: an exception: $reason"
	else
		tap_fail "$1, $config" "$2"
	fi
}

one() { # PAYLOAD
	rm -rf "$dir/t.perf" "$dir/t.vpt"
	# shellcheck disable=SC2086 # lists of arguments
	"$VPT" run -q --engine soft --pt "$owner" --model "$model" $arguments --oracle \
		--max-insns=$MOST -o "$dir/t.vpt" "$GUEST/$1.elf" >"$dir/log" 2>&1
	if [ ! -s "$dir/t.vpt" ]; then
		tap_fail "$1, $config" "vpt run: $(tail -n 3 "$dir/log")"
		return
	fi
	# shellcheck disable=SC2086
	if ! said=$("$VPT" export -q --to perf $export_arguments "$dir/t.vpt" "$dir/t.perf" 2>&1); then
		case $said in
		*--time=packets*)
			if changes "$dir/t.vpt"; then
				tap_ok "$1, $config: refused, since processes or code change"
				return
			fi
			;;
		esac
		failed "$1" "vpt export: $said"
		return
	fi
	if [ -n "$note" ]; then
		said=$(echo "$said" | grep -v "^vpt export: $note")
	fi
	timeout 120 perf script -i "$dir/t.perf" --itrace=i0nse -F ip >"$dir/perf" 2>"$dir/err"
	said="$said$(grep error "$dir/perf" | grep -m 3 -v 'code 7: Overflow packet$')"
	lost=$("$VPT" dump -s "$dir/t.vpt" | awk '$1 == "OVF" || $1 == "FUP.BuffOvf" { print $2 }')
	told=$(grep -c 'code 7: Overflow packet$' "$dir/perf")
	[ "${lost:-0}" -eq "$told" ] || said="$said
overflows: ${lost:-0} in the trace, $told of perf"
	same=$(grep -v 'error.*code \([0-6]\|[89]\|1.\):' "$dir/perf" | "$tool" "$dir/t.vpt" 2>&1)
	status=$?
	payloads=$((payloads + 1))
	instructions=$((instructions + ${same%% *}))
	if [ $status -eq 0 ] && [ -z "$said" ]; then
		reason=$(exception "$1")
		tap_empty "$1, $config: $same" "${reason:+perf can do what tests/perf/exceptions denies}"
	else
		mismatches=$((mismatches + (status != 0)))
		errors=$((errors + $(grep -c error "$dir/perf")))
		failed "$1" "$same
$said"
	fi
}

payloads=0 instructions=0 mismatches=0 errors=0 exceptions=0

[ $# -gt 0 ] || set -- $(basename -s .c guest/payloads/*.c)
for payload; do
	one "$payload"
done
echo "# columns: configuration|payloads|instructions|mismatches|perf-errors|exceptions"
echo "# table: $config $payloads $instructions $mismatches $errors $exceptions"
tap_end
