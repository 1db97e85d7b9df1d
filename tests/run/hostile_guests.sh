#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Memory and disk of guests that are made to take both: guest/hostile/aliases (one page of
# code at 2^35 addresses) and guest/hostile/rewrite (code that changes before each run), on the
# software CPU and on KVM. Each runs for SECONDS: first with the default limit of the trace file,
# and once a run ends by its limit, or for the last tenth of the time, again and again with
# --max-bytes=64M. Memory and file are sampled all the time. A run must end by --timeout or by
# the limit, say so, and leave a whole file.
# usage: hostile_guests.sh [-s SECONDS] [-j JOBS] [-d DIR]
# Resumes: a row that passed is in DIR/ledger, which is of one build and one SECONDS.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/refuse.sh

# Limits: of memory in KiB, docs/threat-model.md, and of the file in bytes.
MOST=458752
DEFAULT=4294967296
SMALL=67108864

now() {
	date +%s
}

# Sample until the run ends: sets rss (KiB) and bytes to the largest that were seen.
sample() { # PID FILE
	while kill -0 "$1" 2>/dev/null; do
		kib=$(sed -n 's/^VmHWM:[[:blank:]]*\([0-9]*\).*/\1/p' "/proc/$1/status" 2>/dev/null)
		[ "${kib:-0}" -le "$rss" ] || rss=$kib
		# The file and its part, whichever there is.
		size=$(stat -c %s "$2" "$2.part" 2>/dev/null | awk '{ n += $1 } END { printf "%.0f", n }')
		[ "$size" -le "$bytes" ] || bytes=$size
		sleep 0.2
	done
}

# One run of a row. Adds to why; sets ended to "time" or "limit".
run_once() { # GUEST ENGINE SECONDS LIMIT DIR
	file=$5/$1.$2.vpt
	rm -f "$file" "$file.part"
	timeout -s KILL $(($3 + 60)) "$VPT" run -q --engine="$2" --pt=host -m 4M --timeout="$3" \
		--max-bytes="$4" -o "$file" "$GUEST/hostile/$1.elf" >"$5/$1.$2.out" 2>"$5/$1.$2.err" &
	shell=$!
	sleep 0.1
	# timeout(1) is the parent of what is sampled.
	sample "$(cat "/proc/$shell/task/$shell/children" 2>/dev/null | cut -d' ' -f1)" "$file"
	wait $shell
	status=$?
	size=$(stat -c %s "$file" 2>/dev/null || echo 0)
	[ "$size" -le "$bytes" ] || bytes=$size
	ended=
	! grep -q -e "--timeout=$3 reached" "$5/$1.$2.err" || ended=time
	! grep -q -e "--max-bytes=$4 reached: the trace ends at 0x" "$5/$1.$2.err" || ended=limit
	[ $status -eq 1 ] && [ -n "$ended" ] || why="$why status $status: $(tail -n 1 "$5/$1.$2.err");"
	[ "$size" -gt 0 ] && [ "$size" -le "$4" ] || why="$why a file of $size bytes, limit $4;"
	"$VPT" info -j "$file" 2>&1 | grep -q '"whole":true' || why="$why the file is not whole;"
	# Room that is kept for what comes before the trace can end: an eighth of the limit, but
	# 32 MiB at most, and the index.
	room=$(($4 / 8 < 33554432 ? $4 / 8 : 33554432))
	if [ "$ended" = limit ] && [ $((size + room + 4194304)) -lt "$4" ]; then
		why="$why the limit came at $size of $4 bytes;"
	fi
	rm -f "$file" "$file.part"
}

# A row: prints "GUEST ENGINE SECONDS RUNS LIMITS RSS BYTES VERDICT".
row() { # GUEST ENGINE SECONDS DIR
	rss=0 bytes=0 most=0 runs=1 limits=0 why=
	begin=$(now)
	free=$(df -P -B1 "$4" | awk 'NR == 2 { print $4 }')
	[ "$free" -gt $((DEFAULT + DEFAULT / 4)) ] || why="$why only $free bytes of disk are free;"
	if [ -z "$why" ]; then
		run_once "$1" "$2" $(($3 - $3 / 10)) $DEFAULT "$4"
		[ "$ended" != limit ] || limits=1
	fi
	most=$bytes
	[ "$most" -le $DEFAULT ] || why="$why $most bytes of file;"
	# A tenth of the time at least, however long it took to write the last file to disk.
	end=$(($(now) + ($3 + 9) / 10))
	[ $end -ge $((begin + $3)) ] || end=$((begin + $3))
	while [ -z "$why" ]; do
		left=$((end - $(now)))
		[ $left -gt 0 ] || break
		bytes=0
		run_once "$1" "$2" "$left" $SMALL "$4"
		[ "$bytes" -le $SMALL ] || why="$why $bytes bytes of file, limit $SMALL;"
		[ "$ended" != limit ] || limits=$((limits + 1))
		runs=$((runs + 1))
	done
	[ "$rss" -gt 0 ] && [ "$rss" -le $MOST ] || why="$why $rss KiB of memory, limit $MOST;"
	# On KVM it takes half a minute to fill 64 MiB.
	[ "$limits" -gt 0 ] || [ "$1" = aliases ] || [ "$3" -lt 300 ] ||
		why="$why no run reached its limit;"
	[ -z "$why" ] || echo "$1 $2:$why" >"$4/$1.$2.failed"
	echo "$1 $2 $(($(now) - begin)) $runs $limits $rss $most $([ -z "$why" ] && echo ok || echo failed)"
}

if [ "${1-}" = --row ]; then
	shift
	rm -f "$4/$1.$2.failed"
	line=$(row "$@")
	echo "$line" >>"$4/ledger"
	exit 0
fi

seconds=600
jobs=1
dir=${O:-build/${MODE:-rel}}/soak-hostile
while getopts s:j:d: option; do
	case $option in
	s) seconds=$OPTARG ;;
	j) jobs=$OPTARG ;;
	d) dir=$OPTARG ;;
	*) exit 2 ;;
	esac
done
key=$(cat "$VPT" "$GUEST"/hostile/aliases.elf "$GUEST"/hostile/rewrite.elf "$0" | cksum | cut -d' ' -f1)
dir=$dir/$key-$seconds
mkdir -p "$dir" || exit 1
exec 9>"$dir/lock"
flock -n 9 || {
	echo "hostile_guests.sh: $dir: another run uses it" >&2
	exit 1
}
touch "$dir/ledger"
grep ' ok$' "$dir/ledger" >"$dir/ledger.new"
mv "$dir/ledger.new" "$dir/ledger"
engines=soft
if [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
	engines="soft kvm"
else
	echo "no KVM here: the rows of KVM are left out"
fi
for guest in aliases rewrite; do
	for engine in $engines; do
		grep -q "^$guest $engine " "$dir/ledger" || echo "$guest $engine $seconds $dir"
	done
done >"$dir/todo"
echo "$seconds seconds each, $(wc -l <"$dir/todo") rows to run; ledger $dir/ledger"
trap 'rm -f "$dir"/*.vpt "$dir"/*.part' EXIT
trap 'kill -- "-$pool" 2>/dev/null; echo "interrupted: run it again to resume" >&2; exit 1' INT TERM HUP
setsid xargs -r -P "$jobs" -L 1 "$0" --row <"$dir/todo" 9>&- &
pool=$!
wait "$pool"
trap - INT TERM HUP
awk 'BEGIN { print "guest    engine  seconds  runs  ended by limit  memory KiB   largest file" }
	{
		printf "%-8s %-6s %8d %5d %15d %11d %14d  %s\n", $1, $2, $3, $4, $5, $6, $7, $8
		if ($8 == "ok") good++; else bad++
	}
	END { printf "%d passed, %d failed\n", good, bad; exit bad != 0 || !good }' "$dir/ledger" >"$dir/table"
status=$?
cat "$dir"/*.failed 2>/dev/null
cat "$dir/table"
exit $status
