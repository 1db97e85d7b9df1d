#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A host's trace of a part of the run: events that begin and end it, on the software CPU, and on KVM
# until the trace begins. Both trace the same instructions.
# usage: part.sh [kvm]
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh
elf=$GUEST/quicksort.elf

# run NAME ARG...: trace a part with the oracle. Sets $insns.
run() {
	name=$1
	shift
	"$VPT" run --engine="$engine" --pt=host --oracle -o "$dir/$name.vpt" "$@" >"$dir/$name.out" 2>"$dir/$name.err"
	status=$?
	insns=$("$VPT" info -j "$dir/$name.vpt" | jq '[.vcpus[].sessions[].insns] | add // 0')
}

listed() { # FILE: its instructions
	"$VPT" decode -i "$1" | grep -E '^[0-9a-f]{16}'
}

first() { # FILE: the address of its first instruction
	listed "$1" | sed -n '1s/^0*\([0-9a-f]*\).*/0x\1/p'
}

# The number of parts of 60 instructions that begin at an address, by the trace of the whole run.
parts_of_60() { # ADDRESS
	listed "$dir/whole.vpt" | awk -v at="$(printf %016x "$1")" \
		'$1 == at && NR >= next_at { n++; next_at = NR + 60 } END { print n + 0 }'
}

# Trace a part from a signal until the next one. The guest does not end, and no event is kept for it.
signals() {
	: >"$dir/signal.err"
	# A signal that comes before vpt listens must not end it.
	trap '' USR2
	"$VPT" run --engine="$engine" --pt=host --oracle -o "$dir/signal.vpt" \
		--trace-from=signal:USR2 --trace-until=signal:USR2 --arg=1000000 \
		"$GUEST/kernelmix.elf" >"$dir/signal.out" 2>"$dir/signal.err" &
	guest=$!
	trap - USR2
	for word in begins ends; do
		tries=0
		until grep -q "the trace $word" "$dir/signal.err"; do
			tries=$((tries + 1))
			[ "$tries" -gt 300 ] && break
			kill -USR2 $guest
			sleep 0.1
		done
	done
	kill -INT $guest
	wait $guest
	tap_run "$engine: a signal begins the trace, and another one ends it" \
		grep -q "the trace ends" "$dir/signal.err"
	tap_run "$engine: it is what ran" "$VPT" verify -q "$dir/signal.vpt"
	tap_run "$engine: and has instructions" test "$("$VPT" info -j "$dir/signal.vpt" |
		jq '[.vcpus[].sessions[].insns] | add // 0')" -gt 1000
}

# The whole run, for comparison.
engine=soft
run whole "$elf"
all=$insns

engines=soft
if [ "${1:-}" = kvm ]; then
	need_kvm
	engines="soft kvm,soft"
fi
for engine in $engines; do
	run from --trace-from=partition "$elf"
	tap_run "$engine: from a symbol: the guest passes" test "$status" -eq 0
	tap_run "$engine: a part is traced" test "$insns" -gt 1000 -a "$insns" -lt "$all"
	tap_run "$engine: it is what ran" "$VPT" verify -q "$dir/from.vpt"
	start=$(first "$dir/from.vpt")
	tap_run "$engine: it begins at the symbol" test "$(listed "$dir/from.vpt" | awk 'NR == 1 { print $2 }')" = partition
	tap_run "$engine: vpt run says where it begins" grep -q "the trace begins at $start" "$dir/from.err"
	run count --trace-from="$start" --trace-for=1234 "$elf"
	tap_run "$engine: an address, and a number of instructions" test "$insns" -eq 1234
	tap_run "$engine: it is what ran" "$VPT" verify -q "$dir/count.vpt"
	run until --trace-from=insertion_sort --trace-until=guest_exit "$elf"
	tap_run "$engine: until a symbol" "$VPT" verify -q "$dir/until.vpt"
	tap_run "$engine: which is not in it" test "$insns" -gt 1000 -a \
		"$(listed "$dir/until.vpt" | awk '$2 == "guest_exit"' | wc -l)" -eq 0
	run console --trace-from=console:PASS "$elf"
	tap_run "$engine: from a text of the console" "$VPT" verify -q "$dir/console.vpt"
	tap_run "$engine: a part is traced" test "$insns" -gt 100 -a "$insns" -lt 20000
	run mark --trace-from=mark:xyz --trace-until=mark:end "$GUEST/marks.elf"
	tap_run "$engine: from a mark to a mark" "$VPT" verify -q "$dir/mark.vpt"
	tap_run "$engine: the marks between them are in it" test "$("$VPT" info -j "$dir/mark.vpt" |
		jq '[.vcpus[].mark_list[] | select(.insns > 0)] | length')" -ge 2
	run again --trace-from=partition --trace-for=60 --trace-again "$elf"
	parts=$(parts_of_60 "$start")
	tap_run "$engine: again and again" test "$parts" -gt 10
	tap_run "$engine: vpt run counts the parts" grep -qx "vpt run: parts traced: $parts" "$dir/again.err"
	tap_run "$engine: each has its instructions" test "$insns" -eq $((60 * parts))
	tap_run "$engine: each begins at the symbol" test "$(listed "$dir/again.vpt" |
		awk 'NR % 60 == 1 && $2 == "partition"' | wc -l)" -eq "$parts"
	tap_run "$engine: they are what ran" "$VPT" verify -q "$dir/again.vpt"
	run between --trace-from=insertion_sort --trace-until=quicksort --trace-again "$elf"
	tap_run "$engine: from a symbol until another, again" "$VPT" verify -q "$dir/between.vpt"
	tap_run "$engine: the end is in none of the parts" test "$(listed "$dir/between.vpt" |
		awk '$2 == "insertion_sort" { n++ } $2 == "quicksort" { bad = 1 }
			END { print (n > 10 && !bad) }')" -eq 1
	# KVM has the host's time, and the software CPU a virtual one.
	[ "$engine" = soft ] && time=0.00005 || time=0.01
	run time --trace-from=time:$time --trace-for=900 --arg=5 "$elf"
	tap_run "$engine: from a time of the guest" test "$insns" -eq 900
	tap_run "$engine: it is what ran" "$VPT" verify -q "$dir/time.vpt"
	signals
	run never --trace-from=console:never "$elf"
	tap_run "$engine: an event that does not happen is a failure" test "$status" -eq 1
	tap_run "$engine: with the event" grep -q -- "--trace-from=console:never: it did not happen" "$dir/never.err"
	for name in from count until console mark again between; do
		listed "$dir/$name.vpt" | md5sum >>"$dir/sums-$engine"
	done
done
# Both engines trace the same instructions.
if [ "${1:-}" = kvm ]; then
	tap_run "the same instructions with both engines" cmp "$dir/sums-soft" "$dir/sums-kvm,soft"
	tap_run "of seven traces" test "$(wc -l <"$dir/sums-soft")" -eq 7
	# KVM resumes between parts that are far enough from one another.
	run often --trace-from=job_idle --trace-for=2000 --trace-again --arg=150 --json "$GUEST/kernelmix.elf"
	tap_run "kernelmix changes its engine again and again: it passes" test "$status" -eq 0
	tap_run "there and back" test "$(jq .engine_changes "$dir/often.out")" -ge 4
	tap_run "what was traced is what ran" "$VPT" verify -q "$dir/often.vpt"
	tap_end
fi

engine=soft
run insns --trace-from=insns:50000 --trace-for=700 "$elf"
tap_run "from a count of instructions" test "$insns" -eq 700
tap_run "it is what ran" "$VPT" verify -q "$dir/insns.vpt"
cp "$dir/insns.vpt" "$dir/once.vpt"
run insns --trace-from=insns:50000 --trace-for=700 "$elf"
tap_run "the same file again" cmp "$dir/once.vpt" "$dir/insns.vpt"
run range --trace-from=insns:50000 --trace-until=insns:50300 "$elf"
tap_run "until a count of instructions" test "$insns" -eq 300
"$VPT" replay -q -o "$dir/again.vpt" "$dir/signal.vpt" >/dev/null
tap_run "a replay repeats the signals" cmp "$dir/signal.vpt" "$dir/again.vpt"
cp "$dir/time.vpt" "$dir/once.vpt"
run time --trace-from=time:0.00005 --trace-for=900 --arg=5 "$elf"
tap_run "the same time is the same place" cmp "$dir/once.vpt" "$dir/time.vpt"
run times --trace-from=time:0.00003 --trace-until=time:0.00005 --arg=5 "$elf"
tap_run "from a time until another one" test "$insns" -gt 10000 -a "$insns" -lt 100000
run begin --trace-for=100 "$elf"
tap_run "--trace-for alone: from the begin" test "$insns" -eq 100
run stop --trace-until=partition "$elf"
tap_run "--trace-until alone: from the begin" test "$insns" -gt 10 -a "$insns" -lt "$all"
"$VPT" run --engine=soft --pt=host --trace-from=partition --trace-for=50000 --verify "$elf" >/dev/null 2>"$dir/err"
tap_run "--verify compares the part" grep -q "^verify: 50000 retired, 50000 decoded, 0 mismatches" "$dir/err"
printf 'hello\n' >"$dir/input"
"$VPT" run -q --pt=host --trace-from=console:h --input="$dir/input" -o "$dir/typed.vpt" "$GUEST/echo.elf" >/dev/null
"$VPT" replay -q -o "$dir/again.vpt" "$dir/typed.vpt" >/dev/null
tap_run "a replay repeats the part" cmp "$dir/typed.vpt" "$dir/again.vpt"
tap_run "and it has instructions" test "$("$VPT" info -j "$dir/again.vpt" |
	jq '[.vcpus[].sessions[].insns] | add')" -gt 100

refused() { # WHAT WORDS ARG...
	what=$1
	words=$2
	shift 2
	"$VPT" run -q --pt=host -o "$dir/no.vpt" "$@" "$elf" >/dev/null 2>"$dir/err"
	status=$?
	tap_run "refused: $what" test "$status" -ne 0 -a "$(wc -l <"$dir/err")" -eq 1
	tap_run "with a reason: $what" grep -q -- "$words" "$dir/err"
}
refused "a symbol that is not there" "there is no symbol 'nowhere'" --trace-from=nowhere
refused "no text" "console:TEXT" --trace-from=console:
refused "no number" "insns: and a number" --trace-from=insns:many
refused "no instructions" "above 0" --trace-for=0
refused "again without an end" "requires --trace-from, and --trace-until or --trace-for" --trace-from=main --trace-again
refused "again without a begin" "requires --trace-from, and" --trace-for=10 --trace-again
refused "again, alone" "requires --trace-from, and" --trace-again
refused "again from a count" "not with insns:N" --trace-from=insns:5 --trace-for=10 --trace-again
refused "again from a time" "not with insns:N and time:S" --trace-from=time:1 --trace-for=10 --trace-again
refused "no time" "seconds above 0" --trace-from=time:soon
refused "another signal" "signal:USR2" --trace-from=signal:HUP
refused "with the monitor's trace" "not with --trace-from" --trace-from=main --trace-later --monitor="$dir/socket"
refused "with a snapshot" "a snapshot does not have these events" --trace-from=main --snapshot="$dir/s.vps" --snapshot-at=10
tap_end
