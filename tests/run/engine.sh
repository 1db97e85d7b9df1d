#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Random programs (guest/random) with random options of `vpt run`: model, who owns PT, what is
# traced and how; run, trace, decode, compare with what ran.
# usage: engine.sh FIRST COUNT [ENGINE]    seeds FIRST to FIRST + COUNT - 1
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/seed.sh
take_seeds "$@"

# What a host can ask of a model, and what its trace has.
host_options() {
	options="$options --pt=host"
	add 2 --tsc
	add 3 --no-retc
	add 4 --kernel --kernel --user
	[ "$model" != bdw ] || return 0
	add 2 --psb=0 --psb=1 --psb=2 --psb=3
	add 2 --mtc --mtc=0 --mtc=3 --mtc=6 --mtc=9
	add 3 --cyc --cyc=1 --cyc=5
	add 3 --filter=0x100000-0x103fff --filter=gen_block --filter=0x101000-0x200000
	add 4 --buffer=128:64 --buffer=256:300 --buffer=512:1024 --buffer=4096
	[ "$model" = spr ] || return 0
	add 2 --ptw --ptw=fup
	add 3 --events
}

seed=$first
while [ "$seed" -lt $((first + count)) ]; do
	begin_seed "$seed"
	pick 4
	case $picked in
	0) model=bdw ;;
	1) model=skl ;;
	2) model=icx ;;
	*) model=spr ;;
	esac
	pick 4
	if [ "$picked" -eq 0 ]; then
		options=" --pt=guest"
	else
		host_options
	fi
	add 3 --defer-tips
	add 4 --cyc-bits=8 --cyc-bits=16 --cyc-bits=32
	add 3 --cbr=8 --cbr=40 --cbr=12,30@5000,20@90000 --cbr=30,10@20000:5000
	run_seed "$seed" "--engine=$engine --model=$model$options"
	seed=$((seed + 1))
done
tap_end
