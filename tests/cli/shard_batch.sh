#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt shard sbatch: its scripts give what vpt decode gives, whatever the name of the folder is, and
# decode only what is missing or damaged.
#
# A stand-in for sbatch runs the tasks here. make check-slurm has a real cluster.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
VPT=$(realpath "$VPT")

# Each of these characters means something to a shell, to Slurm or to GNU parallel.
# shellcheck disable=SC2016 # no expansion is wanted
hostile='a b'\''q" $HOME `id` %a \n {} {#} * ;&|#!'
mkdir "$dir/$hostile"
t="$dir/$hostile/-t \$1.vpt"
plan=$t.plan
"$VPT" run -q --engine=soft --pt=host --psb=0 -o "$t" "$GUEST/quicksort.elf" >/dev/null 2>"$dir/err"
"$VPT" decode "$t" >"$dir/want"
"$VPT" shard plan -q --shards=9 "$t" 2>>"$dir/err"
shards=$(($(wc -l <"$plan") - 1))

# check NAME STATUS TASKS: the script ended with STATUS, and gave the result in TASKS tasks.
check() {
	logs=$(find "$plan.d" -name 'task-*.log' | wc -l)
	if [ "$2" -eq 0 ] && [ "$logs" -eq "$3" ] && cmp -s "$dir/want" "$plan.out"; then
		tap_ok "$1"
	else
		tap_fail "$1" "status $2, logs $logs
$(cat "$dir/err" "$plan.d"/*.log)"
	fi
}

clean() {
	rm -rf "$plan.d" "$plan.out"
}

# by NAME: the script for NAME decodes all shards.
by() {
	clean
	"$VPT" shard sbatch --for="$1" "$plan" >"$dir/script" 2>"$dir/err" && sh "$dir/script" 2>>"$dir/err"
	check "$1" $? "$shards"
}

tap_run "shards: $shards" [ "$shards" -ge 6 ]
by parallel
by sh

# The results of the last script are there. Damage one, and remove one.
printf x | dd of="$plan.d/000003-000003.part" bs=1 seek=500 conv=notrunc 2>/dev/null
rm "$plan.d/000005-000005.part" "$plan.d"/*.log
sh "$dir/script" 2>"$dir/err"
check "a script that runs again" $? "$shards"
kept=$(cat "$plan.d"/task-*.log | grep -c "the result is kept")
again=$(grep -l "instructions:" "$plan.d"/task-*.log | sed 's/.*task-//' | tr '\n' ' ')
if [ "$kept" -eq $((shards - 2)) ] && [ "$again" = "3.log 5.log " ]; then
	tap_ok "only a damaged and a missing result are made again"
else
	tap_fail "only a damaged and a missing result are made again" "kept: $kept, again: $again"
fi

# Nothing runs unless all of the script is there.
bytes=$(wc -c <"$dir/script") cut=50 made=0
clean
while [ $cut -lt $((bytes - 12)) ]; do
	head -c $cut "$dir/script" | sh >/dev/null 2>&1
	[ ! -e "$plan.d" ] || made=$((made + 1))
	cut=$((cut + 97))
done
tap_empty "a script that is cut does nothing" "${made#0}"

# Merge does not run after a task that failed, and an old output stays.
echo old >"$plan.out"
mv "$t" "$dir/moved"
said=$(sh "$dir/script" 2>&1)
status=$?
if [ $status -eq 1 ] && [ "$(cat "$plan.out")" = old ] && [ ! -e "$plan.d/merge.log" ] &&
	[ -z "${said##*shards failed: see *}" ] && grep -q "No such file" "$plan.d/task-0.log"; then
	tap_ok "tasks that fail"
else
	tap_fail "tasks that fail" "status $status: $said"
fi
"$VPT" shard sbatch --for=sh --submit --trace="$dir/moved" "$plan" 2>"$dir/err"
check "--trace, --submit" $? "$shards"
mv "$dir/moved" "$t"

# The stand-in runs each task of an array in turn, and notes its options.
mkdir "$dir/bin"
cat >"$dir/bin/sbatch" <<'EOF'
#!/bin/sh
dir=${0%/bin/sbatch}
printf '%s ' "$@" >>"$dir/sbatch.log"
echo >>"$dir/sbatch.log"
last=
for word in "$@"; do
	case $word in --array=0-*) last=${word#--array=0-} ;; esac
	script=$word
done
if [ -z "$last" ]; then
	sh "$script" || exit
else
	for id in $(seq 0 "$last"); do
		SLURM_ARRAY_TASK_ID=$id sh "$script" || exit
	done
fi
echo "77;cluster"
EOF
chmod +x "$dir/bin/sbatch"
PATH=$dir/bin:$PATH
clean
said=$("$VPT" shard sbatch --submit "$plan" 2>"$dir/err")
check "slurm" $? "$shards"
tap_run "the numbers of the jobs" [ "$said" = "tasks: 77, merge: 77" ]

# asks NAME PATTERN: the options of sbatch match.
asks() {
	if tr '\n' ' ' <"$dir/sbatch.log" | grep -qE -e "$2"; then
		tap_ok "$1"
	else
		tap_fail "$1" "$(cat "$dir/sbatch.log")"
	fi
}
asks "a task for each shard" "--array=0-$((shards - 1)) --requeue .* --dependency=afterok:77 --kill"
# 64 MB are added to twice the memory of a process that needs a few.
asks "measured time and memory" "--array.* --time=[1-9] --mem=([7-9][0-9]|[1-4][0-9][0-9])M .*-merge"
clean
: >"$dir/sbatch.log"
"$VPT" shard sbatch --submit --tasks=3 --time=7 --memory=99 --json "$plan" >/dev/null 2>"$dir/err"
status=$?
"$VPT" decode --json "$t" >"$dir/want"
check "three tasks, --json" $status 3
asks "--tasks, --time, --memory" "--array=0-2 .* --time=7 --mem=99M .* --time=8 --mem=198M"
"$VPT" shard sbatch --time=7 --memory=99 --tasks=500 "$plan" >"$dir/script"
tap_run "no task without a shard" grep "^tasks=$shards\$" "$dir/script"

"$VPT" shard plan -q --calls -o "$dir/calls" "$t"
refuses "--coverage of calls" $USAGE "not a plan of counts" shard sbatch --coverage "$dir/calls"
broken=$(printf '%s/a\nVPT_END' "$dir")
cp "$dir/calls" "$broken"
refuses "a line break in a name" $USAGE "control character" shard sbatch --for=sh "$broken"
refuses "--step of a range" $USAGE "--step: 1-2: give one shard" shard run --step=2 "$plan" 1-2
refuses "an unknown runner" $USAGE "--for=pbs" shard sbatch --for=pbs "$plan"
refuses "a file that is no plan" $INPUT "not a plan" shard sbatch "$t"
printf '#!/bin/sh\nexit 3\n' >"$dir/bin/sbatch"
refuses "sbatch fails" $FAIL "the script failed: status 3" shard sbatch --submit --time=1 --memory=9 "$dir/calls"
tap_end
