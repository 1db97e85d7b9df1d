#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/run/seeds.sh resumes a run that was interrupted, and counts what fails. What it runs is
# a stand-in that takes a while and writes down what it was asked for.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
O=$dir/build
export O SEEDS_CHUNK=10
mkdir -p "$O/tests" "$O/guest"
echo 1 >"$O/vpt"
echo 1 >"$O/guest/random.elf"
cat >"$O/tests/configs" <<'EOF'
#!/bin/sh
dir=${0%/build/*}
echo "$1" >>"$dir/asked"
n=$1
while [ $n -lt $(($1 + $2)) ]; do
	# Only the first two chunks come to their end, however late they are looked at.
	while [ -f "$dir/slow" ] && [ "$1" -ge 1020 ]; do sleep 0.05; done
	[ "$n" != "$(cat "$dir/crash" 2>/dev/null)" ] || exit 1
	[ "$n" = "$(cat "$dir/bad" 2>/dev/null)" ] && echo "not ok 1 - seed $n" || echo "ok 1 - seed $n"
	n=$((n + 1))
done
EOF
chmod +x "$O/tests/configs"

# seeds: what the run says, in $said, and its status.
seeds() {
	said=$(tests/run/seeds.sh -k configs -n 60 -f 1000 -d "$dir/ledgers" 2>&1)
}

last() {
	echo "$said" | tail -n 1
}

# Interrupt it once two chunks are done.
touch "$dir/slow"
tests/run/seeds.sh -k configs -n 60 -f 1000 -d "$dir/ledgers" >"$dir/said" 2>&1 &
pid=$!
while [ "$(find "$dir/ledgers" -name '*.done' 2>/dev/null | wc -l)" -lt 2 ] && kill -0 $pid; do
	sleep 0.05
done
kill -TERM $pid
wait $pid
status=$?
before=$(find "$dir/ledgers" -name '*.done' | wc -l)
tap_run "an interrupt ends it with status 1, not with a result" test "$status" -eq 1 \
	-a "$before" -lt 6 -a -z "$(grep passed, "$dir/said")"
rm "$dir/slow"
asked=$(wc -l <"$dir/asked")
seeds
case $?/$said in
"0/"*"resumed: $before of 6 chunks were done"*"
60 passed, 0 failed") tap_ok "the next run resumes it" ;;
*) tap_fail "the next run resumes it" "$said" ;;
esac
tap_run "and runs what was not done only" test $(($(wc -l <"$dir/asked") - asked)) -eq $((6 - before))
asked=$(wc -l <"$dir/asked")
seeds
tap_run "one more run has nothing to do" test "$(last)/$(wc -l <"$dir/asked")" = \
	"60 passed, 0 failed/$asked"

echo 2 >"$O/vpt"
echo 1042 >"$dir/bad"
seeds
case $?/$said in
1/*"not ok 1 - seed 1042
59 passed, 1 failed") tap_ok "another build has results of its own, and a failure is shown" ;;
*) tap_fail "another build has results of its own, and a failure is shown" "$said" ;;
esac

echo 3 >"$O/vpt"
rm "$dir/bad"
echo 1047 >"$dir/crash"
seeds
tap_run "seeds that say nothing have failed" test "$?/$(last)" = "1/57 passed, 3 failed"

seeds_first=$(tests/run/seeds.sh -k configs -n 1 -d "$dir/ledgers" 2>&1 | sed -n 's/^seeds \([0-9]*\) to.*/\1/p')
tap_run "the first seed follows from the commit" test "$seeds_first" = \
	"$(printf '%d' "0x$(git rev-parse HEAD 2>/dev/null | cut -c1-7)")"
tests/run/seeds.sh -n 5x >/dev/null 2>&1
tap_run "a wrong number is refused" test $? -eq 2
tap_end
