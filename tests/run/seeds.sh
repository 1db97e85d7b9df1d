#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Many fresh seeds of each kind (tests/run/kinds.sh), on several cores. A run that was
# interrupted resumes: each chunk of seeds that is done is a file of the ledger, which is of one
# build and one first seed. Ends with a table and "N passed, N failed".
# usage: seeds.sh [-n SEEDS] [-f FIRST] [-j JOBS] [-d LEDGERS] [-k KINDS]
#   -n  seeds of each kind, 1000
#   -f  the first one; else it follows from the commit's hash
#   -d  where ledgers are, build/seeds
#   -k  only these kinds, in quotes
set -u
cd "$(dirname "$0")/../.." || exit 1
O=${O:-build/${MODE:-rel}}
export O
. tests/run/kinds.sh
CHUNK=${SEEDS_CHUNK:-100}

# The seeds of one chunk. The result appears in the ledger all at once.
chunk() { # LEDGER KIND FIRST COUNT
	at=$1/$2.$3
	part=$at.$$.part
	begin=$(date +%s%N)
	run_seeds "$2" "$3" "$4" >"$part" 2>&1 </dev/null
	passed=$(grep -c '^ok ' "$part") || [ -f "$part" ] || return
	# What has no line of its own has failed too, after a crash for one.
	failed=$(($4 - passed))
	rm -f "$at.failed"
	[ "$failed" -eq 0 ] || grep -v '^ok ' "$part" >"$at.failed"
	echo "$2 $3 $4 $passed $failed $((($(date +%s%N) - begin) / 1000000))" >"$part"
	mv "$part" "$at.done"
	set -- "$1" "$1"/*.done
	if [ $((($# - 1) % 50)) -eq 0 ]; then
		echo "$(($# - 1)) of $CHUNKS chunks"
	fi
}

if [ "${1-}" = --chunk ]; then
	shift
	# 255 ends xargs: the run that began this one was killed.
	kill -0 "$SEEDS_PID" 2>/dev/null || exit 255
	chunk "$@"
	exit 0
fi

seeds=1000
first=
jobs=1
ledgers=build/seeds
kinds=$SEED_KINDS
while getopts n:f:j:d:k: option; do
	case $option in
	n) seeds=$OPTARG ;;
	f) first=$OPTARG ;;
	j) jobs=$OPTARG ;;
	d) ledgers=$OPTARG ;;
	k) kinds=$OPTARG ;;
	*) exit 2 ;;
	esac
done

commit=$(git rev-parse HEAD 2>/dev/null || echo 0)
if [ -z "$first" ]; then
	first=$((0x$(echo "$commit" | cut -c1-7)))
fi
case $seeds$first$jobs in
*[!0-9]*)
	echo "seeds.sh: SEEDS, FIRST and JOBS are decimal numbers" >&2
	exit 2
	;;
esac
# Results of another build are not those of this one.
build=$(cat "$O/vpt" "$O/tests/configs" "$O/guest/random.elf" tests/run/*.sh | cksum | cut -d' ' -f1)
ledger=$ledgers/$first-$build
mkdir -p "$ledger" || exit 1
# Two runs must not share it.
exec 9>"$ledger/lock"
flock -n 9 || {
	echo "seeds.sh: $ledger: another run uses it" >&2
	exit 1
}
rm -f "$ledger"/*.part

todo() {
	for kind in $kinds; do
		n=0
		while [ $n -lt "$seeds" ]; do
			count=$((seeds - n < CHUNK ? seeds - n : CHUNK))
			at=$ledger/$kind.$((first + n)).done
			# A shorter run has left a shorter chunk.
			if ! [ -f "$at" ] || [ "$(cut -d' ' -f3 "$at")" -lt $count ]; then
				echo "$ledger $kind $((first + n)) $count"
			fi
			n=$((n + CHUNK))
		done
	done
}

# The lines of the ledger that belong to this run.
results() {
	for kind in $kinds; do
		n=0
		while [ $n -lt "$seeds" ]; do
			cat "$ledger/$kind.$((first + n)).done" 2>/dev/null ||
				echo "$kind $((first + n)) $CHUNK 0 $CHUNK 0"
			n=$((n + CHUNK))
		done
	done
}

todo >"$ledger/todo"
set -- $kinds
CHUNKS=$(($# * ((seeds + CHUNK - 1) / CHUNK)))
SEEDS_PID=$$
export CHUNKS SEEDS_PID
pending=$(wc -l <"$ledger/todo")
echo "seeds $first to $((first + seeds - 1)) of $# kinds, commit $commit; ledger $ledger"
[ "$pending" -eq "$CHUNKS" ] || echo "resumed: $((CHUNKS - pending)) of $CHUNKS chunks were done"

# An interrupt ends the group of xargs; chunks that run then are run again the next time.
trap 'kill -- "-$pool" 2>/dev/null; echo "interrupted: run it again to resume" >&2; exit 1' INT TERM HUP
setsid xargs -P "$jobs" -L 1 "$0" --chunk <"$ledger/todo" 9>&- &
pool=$!
wait "$pool"
trap - INT TERM HUP

results | awk -v seeds="$seeds" '
	{
		if (!($1 in passed))
			kind[++kinds] = $1
		passed[$1] += $4
		failed[$1] += $5
		ms[$1] += $6
	}
	END {
		print "kind              seeds   passed  failed  ms each"
		for (i = 1; i <= kinds; i++) {
			k = kind[i]
			n = passed[k] + failed[k]
			printf "%-14s %8d %8d %7d %8.1f\n", k, n, passed[k], failed[k], ms[k] / n
			good += passed[k]
			bad += failed[k]
		}
		exit bad != 0
	}'
status=$?
if [ $status -ne 0 ]; then
	echo "what failed, with the commands that show it again:"
	cat "$ledger"/*.failed 2>/dev/null | grep '^not ok\|^# ' | head -n 60
fi
results | awk '{ good += $4; bad += $5 } END { print good " passed, " bad + 0 " failed" }'
exit $status
