#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Random programs (guest/random): run, trace, decode, compare with what ran.
# usage: random.sh FIRST COUNT [ENGINE]    seeds FIRST to FIRST + COUNT - 1
#
# A seed decides the program, and which owner and model it is run with, so that
# eight seeds in a row have all of those.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/roundtrip.sh
. tests/random/seed.sh
O=${O:-build/${MODE:-rel}}
first=${1:?usage: random.sh FIRST COUNT}
count=${2:?usage: random.sh FIRST COUNT}
engine=${3:-soft}
[ "$engine" != kvm ] || need_kvm
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

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
