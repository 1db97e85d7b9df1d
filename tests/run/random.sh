#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Random programs (guest/random): run, trace, decode, compare with what ran.
# usage: random.sh FIRST COUNT [ENGINE]    seeds FIRST to FIRST + COUNT - 1
#
# A seed decides the program, and which owner and model it is run with, so that
# eight seeds in a row have all of those.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/run/seed.sh
take_seeds "$@"

seed=$first
while [ "$seed" -lt $((first + count)) ]; do
	begin_seed "$seed"
	case $((seed % 2)) in
	0) owner=guest ;;
	*) owner=host ;;
	esac
	case $((seed / 2 % 4)) in
	0) model=bdw ;;
	1) model=skl ;;
	2) model=icx ;;
	*) model=spr ;;
	esac
	run_seed "$seed" "--engine=$engine --pt=$owner --model=$model"
	seed=$((seed + 1))
done
tap_end
