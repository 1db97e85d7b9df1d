# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Source it after tap.sh and refuse.sh, with $dir a folder to work in: what others make of a
# trace is what vpt decode makes of it, instruction by instruction.

# perf would read the settings of whoever runs the test.
# shellcheck disable=SC2154 # it is of who sources this
export HOME="$dir" PERF_CONFIG=/dev/null

# instructions TRACE: their addresses, one a line. Others show an INT n, and the WRMSR that ends a
# trace, as events alone.
instructions() {
	"$VPT" decode --insn -j "$1" | awk '
		function flush() {
			if (ip != "")
				print ip
			ip = ""
		}
		match($0, /"ip":"0x[0-9a-f]*"/) {
			flush()
			ip = substr($0, RSTART + 8, RLENGTH - 9)
		}
		/"ran":true/ { ip = "" }
		END { flush() }'
}

# perf_same NAME: $dir/t.vpt, as perf sees it with every instruction and with every branch.
perf_same() {
	ps_said=$("$VPT" export --to perf -q "$dir/t.vpt" "$dir/t.perf" 2>&1)
	ps_status=$?
	if [ $ps_status -ne 0 ] || [ -n "$ps_said" ]; then
		tap_fail "$1" "vpt export: exit status $ps_status: $ps_said"
	else
		instructions "$dir/t.vpt" >"$dir/ours"
		perf script -i "$dir/t.perf" --itrace=i0nse -F ip 2>/dev/null |
			sed 's/^ *//; s/ *$//' >"$dir/perf"
		ps_wrong=$(perf script -i "$dir/t.perf" --itrace=be -F ip,addr 2>/dev/null |
			grep -m 3 error)
		if [ ! -s "$dir/ours" ]; then
			tap_fail "$1" "no instructions"
		elif ! ps_said=$(cmp "$dir/ours" "$dir/perf" 2>&1); then
			tap_fail "$1" "$ps_said
$(grep -m 3 error "$dir/perf")"
		else
			tap_empty "$1" "$ps_wrong"
		fi
	fi
	rm -rf "$dir/t.perf"
}
