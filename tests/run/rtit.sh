#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Random programs (guest/random) with random options of RTIT: run, trace, decode, compare with
# what ran.
# usage: rtit.sh FIRST COUNT [ENGINE]    seeds FIRST to FIRST + COUNT - 1
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/seed.sh
take_seeds "$@"

# Two ranges at most, of which one can be to stop at.
ranges() {
	pick 4
	case $picked in
	0) add 1 --filter=gen_block --filter=0x100000-0x104000 --filter=0x101000-0x200000 ;;
	1) options="$options --filter=0x100000-0x102000 --filter=0x103000-0x108000" ;;
	2)
		add 2 --filter=0x100000-0x200000
		add 2 --stop=0x102345-0x102400 --stop=0x107000-0x107100
		;;
	esac
}

# E4 and E8 are without a workaround: a decoder may err.
errata() {
	add 3 --errata=E1,E2,E3,E5,E6,E7 --errata=E1 --errata=E2 --errata=E3,E5 --errata=E6,E7
}

host_options() {
	options="$options --pt=host"
	add 4 --user --kernel
	ranges
	add 3 --cyc
	add 2 --mtc --mtc=1 --mtc=2 --mtc=3
	add 3 --tsc
	add 3 --no-retc
	add 4 --less-pkts
	add 2 --psb=0 --psb=1 --psb=2 --psb=3
	add 4 --buffer=64:64 --buffer=96:300 --buffer=256:1024 --buffer=4096
}

seed=$first
while [ "$seed" -lt $((first + count)) ]; do
	begin_seed "$seed"
	add 1 silvermont silvermont airmont
	model=${options# }
	options=
	pick 4
	if [ "$picked" -eq 0 ]; then
		options=" --pt=guest"
	else
		host_options
	fi
	errata
	add 4 --clear-lag=1 --clear-lag=4
	add 4 --disable-pgd
	add 3 --cbr=8 --cbr=40 --cbr=12,30@5000,20@90000 --cbr=30,10@20000:5000
	run_seed "$seed" "--engine=$engine --trace=rtit --model=$model$options"
	seed=$((seed + 1))
done
tap_end
