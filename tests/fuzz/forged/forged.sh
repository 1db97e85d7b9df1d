#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Forged files through every verb that reads them: see forged.c.
# usage: forged.sh [-n COUNT] [-f SEED] [-j JOBS] [-k KIND]     COUNT of each kind; resumes
#        forged.sh -t COUNT      TAP, from seed 1 on, without a ledger
# The first seed follows from the commit's hash unless it is given.
set -eu
cd "$(dirname "$0")/../../.."
. tests/lib/refuse.sh
dir=${O:-build/${MODE:-rel}}/forged
count=100000
jobs=1
seed=
kind=
tap=
while getopts n:f:j:k:t: option; do
	case $option in
	n) count=$OPTARG ;;
	f) seed=$OPTARG ;;
	j) jobs=$OPTARG ;;
	k) kind=$OPTARG ;;
	t) tap=$OPTARG ;;
	*) exit 2 ;;
	esac
done
case ${seed:-0}$count$jobs in
*[!0-9]*)
	echo "forged.sh: COUNT, SEED and JOBS are decimal numbers" >&2
	exit 2
	;;
esac
mkdir -p "$dir"
# Two runs must not share the files.
exec 9>"$dir/lock"
flock 9
# In memory, if that can be: each input is a file, and so is what is made of it.
scratch=$(mktemp -d /dev/shm/forged-XXXXXX 2>/dev/null || mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
if [ -n "$tap" ]; then
	tests/fuzz/forged/inputs.sh "$scratch/in"
	"$TOOLS/forged-run" -t -n "$tap" -b "$tap" "$scratch/in" "$scratch"
	exit
fi

commit=$(git rev-parse HEAD 2>/dev/null || echo 0)
[ -n "$seed" ] || seed=$((0x$(echo "$commit" | cut -c1-7)))
# A seed is an input only with the same program and the same files to change.
key=$(cat "$TOOLS/forged-run" tests/fuzz/forged/inputs.sh tests/cli/compat/files/* | cksum | cut -d' ' -f1)
run=$dir/$key-$seed
[ -f "$run/in/whole" ] || tests/fuzz/forged/inputs.sh "$run/in"
: >"$run/in/whole"
echo "seeds $seed to $((seed + count - 1)) of each kind, commit $commit; ledger $run/ledger"
"$TOOLS/forged-run" -n "$count" -f "$seed" -j "$jobs" ${kind:+-k "$kind"} -l "$run/ledger" \
	"$run/in" "$scratch"
