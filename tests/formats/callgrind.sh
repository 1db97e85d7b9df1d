#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt export --to callgrind, as callgrind_annotate of Debian's valgrind reads it, against vpt decode.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

# Lines "FUNCTION INSNS" of the table of functions that callgrind_annotate prints.
annotated() { # [OPTION...]
	callgrind_annotate --threshold=100 --auto=no --show-percs=no "$@" "$dir/out" 2>"$dir/errors" |
		awk '/file:function$/ { in_table = 1; next }
			in_table && /^ *[0-9,]+ / {
				n = $1
				gsub(",", "", n)
				sub(/^ *[0-9,]+ +/, "")
				sub(/ \[vCPU .*\]$/, "")
				sub(/^[^:]*:/, "")
				sum[$0] += n
			}
			END { for (i in sum) if (sum[i]) print i, sum[i] }' | sort
}

# The same from stacks, which tests/cli/export_folded.sh compares with vpt decode --calls. Of
# "inclusive", the sum over calls from the root or another function.
of_stacks() { # self|inclusive
	awk -v what="$1" '{
		n = $NF
		sub(/ [0-9]*$/, "")
		frames = split($0, frame, ";")
		if (what == "self")
			sum[frame[frames]] += n
		else for (i = 2; i <= frames; i++)
			sum[frame[i]] += n
		split("", first)
		split("", last)
		for (i = 2; i <= frames; i++) {
			if (!(frame[i] in first))
				first[frame[i]] = i
			last[frame[i]] = i
		}
		for (name in first)
			for (i = first[name]; first[name] < last[name] && i <= last[name]; i++)
				nested[frame[i]] = 1
	}
	END { for (i in sum) if (what == "self" || !nested[i]) print i, sum[i] }' "$dir/folded" | sort
}

total() {
	callgrind_annotate --show-percs=no "$dir/out" 2>&1 | sed -n 's/^\([0-9,]*\) *PROGRAM TOTALS.*/\1/p' | tr -d ,
}

run() { # NAME [OPTION...]
	guest=$1
	shift
	rm -f "$dir/t.vpt"
	"$VPT" run -q --engine=soft "$@" -o "$dir/t.vpt" "$GUEST/$guest.elf" >"$dir/log" 2>&1 </dev/null
	"$VPT" export -q --to=callgrind "$dir/t.vpt" "$dir/out" || return
	"$VPT" export -q --to=folded "$dir/t.vpt" "$dir/folded"
	insns=$("$VPT" decode -j "$dir/t.vpt" | jq .insns)
	tap_run "$guest $*: $insns instructions" test "$(total)" -eq "$insns"
	annotated >"$dir/annotated"
	of_stacks self >"$dir/stacks"
	tap_run "$guest $*: instructions of each function" diff "$dir/stacks" "$dir/annotated"
	tap_run "$guest $*: no complaint" test ! -s "$dir/errors"
	# callgrind_annotate adds up calls, and the first function of a lane has no caller. Functions
	# in a recursion have no sum of their own.
	[ "$(grep -c '^ob=' "$dir/out")" -eq 1 ] || return
	of_stacks inclusive >"$dir/stacks"
	annotated --inclusive=yes >"$dir/annotated"
	compared=$(wc -l <"$dir/stacks")
	tap_run "$guest $*: with callees, of $compared functions" test "$compared" -gt 10 -a \
		-z "$(comm -23 "$dir/stacks" "$dir/annotated")"
}

tap_run "callgrind_annotate is there" sh -c "command -v callgrind_annotate"
run calls --pt=host
run processes --pt=host
run quicksort --pt=host
tap_end
