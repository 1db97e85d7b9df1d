#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A trace that threads decode in shards gives the output of one thread, byte for byte.
#
# tests/shards compares items, parts, counts and listings with random cuts from fixed seeds. The outputs of the
# verb are compared as text. Where nothing can be cut, the test says so and expects no shards.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
SHARDS=${O:-build/${MODE:-rel}}/tests/shards
PLANS=${PLANS:-6}

record() { # PAYLOAD OPTION...
	payload=$1
	shift
	"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$@" "$GUEST/$payload.elf" \
		>/dev/null 2>"$dir/err" </dev/null
}

# cuts DAMAGE LEAST PAYLOAD OPTION...: at least so many shards were decoded apart, and all are right.
# DAMAGE places of the stream are changed in each plan.
cuts() {
	damage=$1 least=$2
	shift 2
	record "$@"
	said=$("$SHARDS" 3 300 "$PLANS" 1 "$damage" "$dir/t.vpt" 2>&1)
	status=$?
	proved=${said##*proved } proved=${proved%%,*}
	failed=$((failed + ${said##* }))
	alone=${said##*alone } alone=${alone%%,*}
	alones=$((alones + alone))
	if [ $status -eq 0 ] && [ "$proved" -ge "$least" ]; then
		tap_ok "$*, damage $damage: $said"
	else
		tap_fail "$*, damage $damage: at least $least shards" "$said
$(cat "$dir/err")"
	fi
}

# outputs NAME FILE: each output is that of one thread.
outputs() {
	bad=
	for how in "" --json --quiet --calls "--calls --json" --coverage --insn "--insn --limit=2000" \
		"--insn --lines" "--insn --json --lines" "--insn --side=all" \
		"--insn --time --limit=2000" "--insn --spaces --limit=2000" "--insn --limit=0" \
		"--blocks --limit=2000" "--blocks --lines" "--blocks --json" \
		--time "--calls --time" --spaces "--calls --spaces"; do
		# shellcheck disable=SC2086 # options
		"$VPT" decode $how "$2" >"$dir/want" 2>"$dir/want.err"
		want=$?
		for jobs in 2 7 64 0; do
			# shellcheck disable=SC2086 # options
			"$VPT" decode --jobs=$jobs $how "$2" >"$dir/got" 2>"$dir/got.err"
			[ $? -eq $want ] && cmp -s "$dir/want" "$dir/got" &&
				cmp -s "$dir/want.err" "$dir/got.err" || bad="$bad '$how' by $jobs"
		done
	done
	if [ -z "$bad" ]; then tap_ok "outputs of $1"; else tap_fail "outputs of $1" "$bad"; fi
}

# formats NAME FILE: each export, and the page of vpt report, is that of one thread.
formats() {
	bad=
	made=0
	for to in perfetto chrome speedscope folded svg callgrind drcov edges bitmap lcov bolt autofdo report; do
		for jobs in 1 2 7; do
			if [ $to = report ]; then
				"$VPT" report -q --jobs=$jobs -o "$dir/out.$jobs" "$2"
			else
				"$VPT" export -q --to=$to --jobs=$jobs "$2" "$dir/out.$jobs"
			fi 2>"$dir/err.$jobs"
			echo $? >>"$dir/err.$jobs"
			if [ $jobs = 1 ]; then
				made=$((made + $(grep -cx 0 "$dir/err.1")))
				continue
			fi
			cmp -s "$dir/err.1" "$dir/err.$jobs" && { cmp -s "$dir/out.1" "$dir/out.$jobs" ||
				! grep -qx 0 "$dir/err.1"; } || bad="$bad $to by $jobs"
		done
		rm -f "$dir"/out.*
	done
	if [ -z "$bad" ] && [ $made -ge 11 ]; then
		tap_ok "formats of $1: $made"
	else
		tap_fail "formats of $1: $made" "$bad"
	fi
}

failed=0
alones=0
cuts 0 100 quicksort --psb=0
cuts 0 100 quicksort --psb=0 --no-retc
cuts 0 100 quicksort --psb=0 --tsc --mtc --cyc
cuts 0 100 bytecode --psb=0 --tsc
cuts 0 40 calls --psb=0
cuts 0 20 longjmp --psb=0 --tsc
cuts 0 20 exceptions --psb=0
cuts 0 20 interrupts --psb=0
cuts 0 20 compat --psb=0
cuts 0 20 legacy --psb=0
cuts 0 20 processes --psb=0
cuts 0 20 storm --psb=0
cuts 0 20 legacy --psb=0 --model=spr --events --cyc --buffer=1024:60
cuts 0 20 kernelmix --psb=0 --tsc
cuts 0 20 jit --psb=0 --arg=100
cuts 3 20 jit --psb=0 --arg=100
cuts 4 20 quicksort --psb=0
cuts 4 20 quicksort --psb=0 --tsc --mtc --cyc
cuts 9 20 storm --psb=0 --tsc
cuts 20 20 legacy --psb=0
cuts 20 20 bytecode --psb=0 --tsc --cyc

# Source lines that are the last of a shard and the first of the next, lines that take turns, and code
# without lines.
cat >"$dir/lines.c" <<'END'
extern void spin(void);
__asm__(".text\nspin: mov $20000, %ecx\n1: test $1, %cl\njz 2f\nnop\n2: dec %ecx\njnz 1b\nret");
__attribute__((noinline)) void body(int n) { for (volatile int k = 0; k < n; k++) ; }
void _start(void)
{
	for (volatile int i = 0; i < 8; i++) {
		body(4000); spin();
		for (volatile int k = 0; k < 12000; k++) ;
	}
	*(volatile int *)0x7fffffff0000 = 1;
}
END
gcc -g -O1 -fno-stack-protector -ffreestanding -nostdlib -static -no-pie -Wl,--build-id=none \
	-o "$dir/lines.elf" "$dir/lines.c" || exit 1
guest=$GUEST
GUEST=$dir
cuts 0 40 lines --psb=0
GUEST=$guest

record quicksort --psb=0
outputs quicksort "$dir/t.vpt"
record processes --psb=0 --tsc --mtc
outputs processes "$dir/t.vpt"
formats processes "$dir/t.vpt"

# Fewer than 500000 lines have one thread. From there on the limit is in a shard.
record quicksort --psb=0 --arg=10
bad=
for limit in 499999 500000 600001; do
	for jobs in 1 2 7; do
		"$VPT" decode --insn --lines --limit=$limit --jobs=$jobs "$dir/t.vpt" >"$dir/out.$jobs" || bad="$bad $limit"
		cmp -s "$dir/out.1" "$dir/out.$jobs" || bad="$bad $limit by $jobs"
	done
	[ "$(grep -c '^0' "$dir/out.1")" -gt $((limit - 10)) ] || bad="$bad $limit: lines"
done
rm -f "$dir"/out.*
if [ -z "$bad" ]; then tap_ok "a limit in a shard"; else tap_fail "a limit in a shard" "$bad"; fi
# Where bytes were changed, one thread had to decode the rest.
if [ "$failed" -ge 5 ]; then
	tap_ok "proofs failed in $failed plans"
else
	tap_fail "proofs failed in $failed plans" "at least 5 are expected"
fi
if [ "$alones" -ge 100 ]; then
	tap_ok "texts were not kept, of $alones shards"
else
	tap_fail "texts were not kept, of $alones shards" "at least 100 are expected"
fi
tap_end
