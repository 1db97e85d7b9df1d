#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt run --gdb and vpt gdb: places, steps, breakpoints and watchpoints in both directions with a client
# of the protocol (tests/gdb/travel.py), the stock gdb, recordings, and refusals.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

# Run travel.py as one test for each of its lines.
travel() { # NAME PAYLOAD POSITIONS SEED OPTION...
	tr_name=$1
	tr_payload=$2
	shift 2
	if python3 tests/gdb/travel.py "$VPT" "$GUEST/$tr_payload.elf" "$@" >"$dir/travel" 2>&1; then
		tr_plan=$(sed -n 's/^1\.\.//p' "$dir/travel")
		tap_run "$tr_name: ${tr_plan:-no} tests" \
			test "$(grep -c '^ok ' "$dir/travel")" = "$tr_plan" -a "${tr_plan:-0}" -gt 15
	else
		tap_fail "$tr_name" "$(tail -n 5 "$dir/travel")"
	fi
	grep -A 1 '^not ok ' "$dir/travel" | sed 's/^/# /'
}

# No process of a session is left.
left() { pgrep -f "$dir/gdb" >"$dir/left" && cat "$dir/left"; }

travel "exceptions" exceptions 30 1
travel "interrupts of a timer" timer 20 2
travel "three vCPUs" smp 10 3 --cpus=3
travel "a trace file" exceptions 30 6 --file="$dir/travel.vpt"
travel "a trace file of three vCPUs" smp 10 3 --file="$dir/travel.vpt" --cpus=3

# The stock gdb, with names.
cat >"$dir/script" <<-'END'
	set pagination off
	set confirm off
	break payload
	continue
	stepi 5
	reverse-stepi 5
	info registers rip
	tbreak report_equal
	continue
	watch -l *(long *)$rsp
	reverse-continue
	bt 1
	reverse-continue
	delete
	reverse-continue
	monitor when
	info registers cr3
	kill
END
gdb_session() { # COMMAND...
	"$@" >"$dir/run" 2>&1 &
	gs_pid=$!
	while [ ! -S "$dir/gdb" ] && kill -0 $gs_pid 2>/dev/null; do sleep 0.02; done
	timeout 100 gdb -q -nx -batch -ex "file $GUEST/${gs_elf:-exceptions}.elf" -ex "target remote $dir/gdb" \
		-x "$dir/script" >"$dir/gdb.out" 2>&1
	wait $gs_pid
	gs_status=$?
}
gdb_session "$VPT" run --engine=soft --pt=off --gdb="$dir/gdb" "$GUEST/exceptions.elf"
tap_run "gdb stops at a function" grep -q '^Breakpoint 1, payload ()' "$dir/gdb.out"
entry=$(nm "$GUEST/exceptions.elf" | sed -n 's/^0*\([0-9a-f]*\) T payload$/0x\1/p')
tap_run "steps back to it" grep -q "^rip  *$entry " "$dir/gdb.out"
tap_run "goes back to who wrote a return address" grep -q '^Hardware watchpoint' "$dir/gdb.out"
tap_run "the value before is another one" grep -q '^Old value = ' "$dir/gdb.out"
tap_run "and to the beginning" grep -q 'No more reverse-execution history' "$dir/gdb.out"
tap_run "reads system registers" grep -q '^cr3  *0x' "$dir/gdb.out"
tap_run "and ends the guest" grep -q 'by gdb' "$dir/run"

# A recording with input.
printf 'abc\n' >"$dir/input"
"$VPT" run -q --engine=soft --pt=host --input="$dir/input" -o "$dir/t.vpt" "$GUEST/exceptions.elf" >"$dir/want" 2>&1
tap_run "a recording with input" test -s "$dir/t.vpt"
printf 'set pagination off\nset confirm off\nbreak payload\ncontinue\nreverse-continue\ndetach\n' >"$dir/script"
gdb_session "$VPT" gdb -q --gdb="$dir/gdb" "$dir/t.vpt"
tap_run "is repeated under gdb" grep -q '^Breakpoint 1, payload ()' "$dir/gdb.out"
grep -v '^in gdb: ' "$dir/run" >"$dir/got"
tap_run "prints the same" cmp "$dir/want" "$dir/got"
tap_empty "no process is left" "$(left)"

# A file of a run without input. The watchpoint stops where vpt run --gdb does.
printf '%s\n' 'set pagination off' 'set confirm off' 'break report_equal' continue 'stepi 5' 'reverse-stepi 5' \
	'info registers' 'watch -l *(long *)$rsp' reverse-continue 'info registers' 'x/2gx $rsp' 'x/20bx $rip' \
	'monitor when' 'monitor hash' detach >"$dir/script"
"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$GUEST/exceptions.elf" >"$dir/want" 2>&1
gdb_session "$VPT" run -q --engine=soft --pt=host -o "$dir/other.vpt" --gdb="$dir/gdb" "$GUEST/exceptions.elf"
cp "$dir/gdb.out" "$dir/gdb.want"
gdb_session "$VPT" gdb -q --gdb="$dir/gdb" "$dir/t.vpt"
tap_run "a run without input stops at a watchpoint" grep -q '^Hardware watchpoint' "$dir/gdb.out"
tap_run "with the registers and memory of the run" cmp "$dir/gdb.want" "$dir/gdb.out"
tap_run "the registers are there" test "$(grep -c '^r[a-z0-9]*  *0x' "$dir/gdb.out")" -gt 30
grep -v '^in gdb: ' "$dir/run" >"$dir/got"
tap_run "and prints the same" cmp "$dir/want" "$dir/got"

# Files of the run that are not the same any more.
printf '%s\n' 'info registers rip' 'print $rsp' detach >"$dir/script"
cp "$GUEST/exceptions.elf" "$dir/moved.elf"
"$VPT" run -q --engine=soft --pt=host -o "$dir/moved.vpt" "$dir/moved.elf" >/dev/null 2>&1
only_trace() { # WORDS COMMAND...
	ot_words=$1
	shift
	gdb_session "$@"
	tap_run "$ot_words: gdb has RIP" grep -q '^rip  *0x' "$dir/gdb.out"
	tap_run "$ot_words: and no data" grep -q '^\$1 = <unavailable>' "$dir/gdb.out"
	tap_run "$ot_words: a line says why" grep -q "$ot_words" "$dir/run"
	tap_run "$ot_words: status" test "$gs_status" -eq 0
}
echo >>"$dir/moved.elf"
only_trace "not the guest of the recording" "$VPT" gdb --gdb="$dir/gdb" "$dir/moved.vpt"
rm "$dir/moved.elf"
only_trace "moved.elf: No such file" "$VPT" gdb --gdb="$dir/gdb" "$dir/moved.vpt"
gdb_session "$VPT" gdb --gdb="$dir/gdb" --guest="$GUEST/calls.elf" "$dir/moved.vpt"
tap_run "--guest with another file is refused" test "$gs_status" -eq "$INPUT"
gdb_session "$VPT" gdb -q --gdb="$dir/gdb" --guest="$GUEST/exceptions.elf" "$dir/moved.vpt"
tap_run "--guest with the same file is used" grep -q '^\$1 = (void \*) 0x' "$dir/gdb.out"
"$VPT" run -q --engine=soft --pt=host --arg=1000000 --timeout=0.3 -o "$dir/late.vpt" "$GUEST/quicksort.elf" \
	>/dev/null 2>&1
only_trace "a time limit or a signal ended its run" "$VPT" gdb --gdb="$dir/gdb" "$dir/late.vpt"
"$VPT" run -q --engine=soft --usage=system -o "$dir/usage.vpt" "$GUEST/exceptions.elf" >/dev/null 2>&1
only_trace "a run with --usage is not repeated" "$VPT" gdb --gdb="$dir/gdb" "$dir/usage.vpt"
"$VPT" run -q --engine=soft --pt=host --ring=1M -o "$dir/ring.vpt" "$GUEST/exceptions.elf" >/dev/null 2>&1
only_trace "no record of its run" "$VPT" gdb --gdb="$dir/gdb" "$dir/ring.vpt"

# A trace whose guest is gone: RIP and code, in both directions.
trace() { # NAME PAYLOAD POSITIONS SEED OPTION...
	tr_name=$1
	tr_payload=$2
	tr_places=$3
	tr_seed=$4
	shift 4
	cp "$GUEST/$tr_payload.elf" "$dir/gone.elf"
	"$VPT" run -q --engine=soft --pt=host -o "$dir/trace.vpt" "$@" "$dir/gone.elf" >/dev/null
	rm "$dir/gone.elf"
	python3 tests/gdb/trace.py "$VPT" "$dir/trace.vpt" "$GUEST/$tr_payload.elf" "$tr_places" \
		"$tr_seed" >"$dir/travel" 2>&1
	tr_plan=$(sed -n 's/^1\.\.//p' "$dir/travel")
	tap_run "$tr_name: ${tr_plan:-no} tests" \
		test "$(grep -c '^ok ' "$dir/travel")" = "$tr_plan" -a "${tr_plan:-0}" -gt 12
	grep -v '^ok ' "$dir/travel" | sed 's/^/# /'
}
trace "a trace with three vCPUs" smp 30 4 --cpus=3
trace "a trace" calls 100 5

# An instruction within a call of gcd, by its number.
inside=$("$VPT" decode -i "$dir/trace.vpt" | grep -v '^--' | grep -n ' gcd+' | sed -n '50s/:.*//p')
printf '%s\n' 'set pagination off' 'set confirm off' 'print $rsp' 'break gcd' continue reverse-stepi \
	delete "monitor goto $((inside - 1))" 'maintenance flush register-cache' 'record btrace bts' 'info record' \
	reverse-stepi reverse-finish 'print $pc' 'record stop' 'set $pc = 1' detach >"$dir/script"
gs_elf=calls
gdb_session "$VPT" gdb --gdb="$dir/gdb" "$dir/trace.vpt"
tap_run "gdb has no other registers" grep -q '^\$1 = <unavailable>' "$dir/gdb.out"
tap_run "gdb counts the instructions of the record" \
	grep -q "^Recorded $((inside - 1)) instructions" "$dir/gdb.out"
tap_run "and goes back over a call" grep -q '^\$2 = .* <work+' "$dir/gdb.out"
tap_run "a trace cannot be changed" grep -q 'a trace cannot be changed' "$dir/gdb.out"
tap_run "a line says what is missing" grep -q 'gdb has RIP and code' "$dir/run"

# The trace file of a debugged run, beside that of the same run without gdb.
printf '%s\n' 'set pagination off' 'set confirm off' 'break printk' continue continue 'watch -l *(long *)$rsp' \
	continue reverse-continue reverse-continue 'stepi 20' 'reverse-stepi 30' 'info breakpoints' detach >"$dir/script"
same_file() { # PAYLOAD OPTION...
	gs_elf=$1
	shift
	"$VPT" run -q --engine=soft "$@" -o "$dir/want.vpt" "$GUEST/$gs_elf.elf" >"$dir/want" 2>&1
	sf_status=$?
	gdb_session "$VPT" run -q --engine=soft "$@" -o "$dir/got.vpt" --gdb="$dir/gdb" "$GUEST/$gs_elf.elf"
	tap_run "$gs_elf $*: gdb stops" test "$(grep -c 'already hit' "$dir/gdb.out")" -ge 2
	tap_run "$gs_elf $*: a debugged run writes the same file" cmp "$dir/want.vpt" "$dir/got.vpt"
	grep -v '^in gdb: ' "$dir/run" >"$dir/got"
	tap_run "$gs_elf $*: and the same console" cmp "$dir/want" "$dir/got"
	tap_run "$gs_elf $*: with the same status" test "$gs_status" -eq "$sf_status"
	rm -f "$dir/got.vpt"
}
same_file exceptions --pt=host --cyc --tsc
same_file timer --pt=guest
same_file smp --pt=host --cpus=4
same_file kernelmix --pt=host --trace-from=insns:2000 --trace-for=9000 --oracle
printf '%s\n' 'monitor goto 5000' kill >"$dir/script"
gs_elf=calls
gdb_session "$VPT" run --engine=soft --pt=host -o "$dir/got.vpt" --gdb="$dir/gdb" "$GUEST/calls.elf"
tap_run "a kill ends the file at the position" \
	test "$("$VPT" decode -j -i "$dir/got.vpt" 2>/dev/null | grep -c '"size"')" -eq 5000
cp "$dir/got.vpt" "$dir/earlier.vpt"
printf '%s\n' 'monitor goto 5000' 'maintenance flush register-cache' 'set $rax = 987654321' detach >"$dir/script"
gdb_session "$VPT" run --engine=soft --pt=host -o "$dir/got.vpt" --gdb="$dir/gdb" "$GUEST/calls.elf"
tap_run "a guest that gdb changes has no file" grep -q 'gdb has changed the guest, so that .*got.vpt is not' "$dir/run"
tap_run "and the status of a failure" test "$gs_status" -eq 1
tap_run "an earlier file stays" cmp "$dir/earlier.vpt" "$dir/got.vpt"
tap_empty "and no part" "$(find "$dir" -name '*.part')"

refuses "a port that is none" "$USAGE" "--gdb=x: a port" run --engine=soft --gdb=x "$GUEST/exceptions.elf"
refuses "a port that is too large" "$USAGE" "--gdb=70000: a port" run --engine=soft --gdb=70000 \
	"$GUEST/exceptions.elf"
refuses "a folder that is missing" "$HOST" "--gdb=/nowhere/gdb: " run --engine=soft --gdb=/nowhere/gdb \
	"$GUEST/exceptions.elf"
refuses "input" "$USAGE" "--gdb: not with --input: record" run --engine=soft --gdb="$dir/gdb" \
	--input="$dir/input" "$GUEST/exceptions.elf"
refuses "a snapshot" "$USAGE" "--gdb: not with --snapshot" run --engine=soft --gdb="$dir/gdb" \
	--snapshot="$dir/x.vps" "$GUEST/exceptions.elf"
tap_empty "nothing is left of these" "$(find "$dir" -name 'x.vp*' -o -name gdb)"
tap_end
