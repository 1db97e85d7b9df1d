# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Source it: random programs (guest/random) with options that their seeds decide.
. tests/lib/tap.sh
. tests/lib/roundtrip.sh

# take_seeds FIRST COUNT [ENGINE]: $first, $count, $engine; $O, the build; $dir, for files.
# shellcheck disable=SC2034 # for who sources it
take_seeds() {
	first=${1:?FIRST is missing}
	count=${2:?COUNT is missing}
	engine=${3:-soft}
	O=${O:-build/${MODE:-rel}}
	[ "$engine" != kvm ] || need_kvm
	dir=$(mktemp -d) || exit 1
	trap 'rm -rf "$dir"' EXIT
}

# begin_seed SEED: what pick() gives from here on depends on it alone.
begin_seed() {
	state=$(($1 * 7919 + 1))
	options=
}

# pick N: 0 to N - 1, in $picked.
pick() {
	state=$(((state * 1103515245 + 12345) & 0x7fffffff))
	picked=$(((state >> 8) % $1))
}

# add N OPTION...: one of the options, in one of N cases.
add() {
	pick "$1"
	shift
	[ "$picked" -eq 0 ] || return 0
	pick $#
	shift "$picked"
	options="$options $1"
}

# run_seed SEED OPTIONS: one test. Run, trace, decode, compare with what ran; on failure the
# two commands that show it again are printed. Options may leave nothing to trace; not without
# any. $O: the build; $dir: a folder for the trace.
# shellcheck disable=SC2154
run_seed() {
	run="$O/vpt run $2 --seed=$1 --oracle -o"
	guest=$O/guest/random.elf
	trace=$dir/$1.vpt
	# shellcheck disable=SC2086 # a command line
	if ! output=$($run "$trace" "$guest" 2>&1 </dev/null); then
		tap_fail "seed $1: run $2" "$run random.vpt $guest
$output"
	elif output=$("$O/vpt" verify ${options:+--allow-empty} "$trace" 2>&1); then
		tap_ok "seed $1: $2"
	else
		tap_fail "seed $1: verify $2" "$run random.vpt $guest
$O/vpt verify random.vpt
$output"
	fi
	rm -f "$trace"
}
