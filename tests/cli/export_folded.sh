#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks of vpt export --to folded, read by their format alone, against vpt decode: the number of
# instructions, and those of each function in the tree of calls.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
compared=0

insns() { # FILE [OPTION...]
	"$VPT" decode -j "$@" | grep -o '"insns":[0-9]*' | head -n 1 | tr -dc '0-9'
}

# Lines "DEPTH FUNCTION INSNS" of each node, with the instructions of its callees.
of_stacks() {
	awk '{
		n = $NF
		sub(/ [0-9]*$/, "")
		frames = split($0, frame, ";")
		path = ""
		for (i = 2; i <= frames; i++) {
			path = path ";" frame[i]
			sum[path] += n
		}
	}
	END {
		for (path in sum) {
			frames = split(path, frame, ";")
			print frames - 2, frame[frames], sum[path]
		}
	}' "$1" | sort
}

of_calls() {
	"$VPT" decode --calls --spaces -j "$1" | jq -r '"\(.depth) \(.function) \(.insns)"' | sort
}

# Sums over all lanes and callers, because two address spaces can have equal stacks.
sums() {
	awk '{ n = $NF; sub(/ [0-9]*$/, ""); sum[$0] += n } END { for (i in sum) print i, sum[i] }' | sort
}

same() { # NAME FILE
	if ! "$VPT" export -q --to=folded "$2" "$dir/folded"; then
		tap_fail "$1" "the export failed"
		return
	fi
	total=$(awk '{ n += $NF } END { print n + 0 }' "$dir/folded")
	expected=$(insns "$2")
	of_stacks "$dir/folded" | sums >"$dir/stacks"
	of_calls "$2" | sums >"$dir/calls"
	compared=$((compared + $(wc -l <"$dir/calls")))
	if [ "$total" -ne "$expected" ]; then
		tap_fail "$1" "instructions: $total, not $expected"
	else
		tap_run "$1" diff "$dir/calls" "$dir/stacks"
	fi
}

run() { # NAME [OPTION...]
	guest=$1
	shift
	rm -f "$dir/t.vpt"
	"$VPT" run -q --engine=soft "$@" -o "$dir/t.vpt" "$GUEST/$guest.elf" >"$dir/log" 2>&1 </dev/null
	same "$guest $*" "$dir/t.vpt"
}

run calls --pt=host
run processes --pt=host
run recursion --pt=host
run exceptions --pt=host --user
run longjmp --pt=host
run calls --pt=host --model=skl --buffer=128:100
tap_run "the last trace has overflows" test "$("$VPT" decode -j "$dir/t.vpt" | jq .events.overflow)" -gt 0
run smp --pt=host --cpus=2
tap_run "at least 300 nodes were compared" test "$compared" -ge 300

"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$GUEST/processes.elf" >/dev/null
"$VPT" export -q --to=folded "$dir/t.vpt" "$dir/file"
tap_run "a pipe" sh -c "'$VPT' export --to=folded '$dir/t.vpt' - | cmp - '$dir/file'"
cr3=$(sed -n 's/^vCPU 0: cr3 \(0x[0-9a-f]*\);.*/\1/p' "$dir/file" | sort -u | tail -n 1)
"$VPT" export -q --to=folded --process="$cr3" "$dir/t.vpt" "$dir/one"
tap_run "one process" sh -c "grep 'cr3 $cr3;' '$dir/file' | cmp - '$dir/one' && test -s '$dir/one'"

# A name of a guest that would be two frames.
objcopy --redefine-sym "fibonacci=a;b
c 9" "$GUEST/calls.elf" "$dir/hostile.elf"
"$VPT" run -q --engine=soft --pt=host -o "$dir/h.vpt" "$dir/hostile.elf" >/dev/null
"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$GUEST/calls.elf" >/dev/null
"$VPT" export -q --to=folded "$dir/t.vpt" - | sed 's/fibonacci/a:b?c 9/g' >"$dir/names"
tap_run "the plain name is in the trace" grep -q 'a:b?c 9' "$dir/names"
tap_run "a hostile name" sh -c "'$VPT' export --to=folded '$dir/h.vpt' - | diff '$dir/names' -"

refuses "a full disk" "$HOST" "No space left" export -q --to=folded "$dir/t.vpt" /dev/full
refuses_as "a file that grows too large" "$HOST" "File too large" export \
	sh -c 'ulimit -f 1 && exec "$@"' sh "$VPT" export -q --to=folded "$dir/t.vpt" "$dir/large"
tap_run "it leaves nothing" test ! -e "$dir/large"
refuses "an option of perf" "$USAGE" "it is for --to=perf" export --to=folded --time=tsc "$dir/t.vpt" "$dir/x"
refuses "an option of formats" "$USAGE" "not for --to=perf" export --to=perf --pti "$dir/t.vpt" "$dir/x"
refuses "a vCPU there is not" "$USAGE" "vCPUs 0 to 0" export --to=folded -c 1 "$dir/t.vpt" "$dir/x"
refuses "a process by name, of a file without names" "$USAGE" "no address spaces" \
	export --to=folded --process=init "$dir/t.vpt" "$dir/x"
tap_end
