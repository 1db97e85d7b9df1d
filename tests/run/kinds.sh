# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Source it: the kinds of seeds, and how each is run. $O is the build.

SEED_KINDS="programs options configs rtit-programs rtit-configs"

# run_seeds KIND FIRST COUNT: TAP on standard output, a test for each seed.
run_seeds() {
	case $1 in
	programs) tests/run/random.sh "$2" "$3" ;;
	options) tests/run/engine.sh "$2" "$3" ;;
	rtit-programs) tests/run/rtit.sh "$2" "$3" ;;
	configs) "$O/tests/configs" "$2" "$3" ;;
	rtit-configs) "$O/tests/configs" -a "$2" "$3" ;;
	*)
		echo "Bail out! $1: no such kind of seeds"
		return 2
		;;
	esac
}
