# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# TAP for test scripts. Source it, report each test, and end with tap_end:
#
#   tap_ok NAME              passed
#   tap_fail NAME [TEXT]     failed; TEXT is printed below it
#   tap_skip NAME REASON     not run; tests/expected-skips must know of it
#   tap_run NAME CMD...      passes if CMD does; else its output is printed
#   tap_empty NAME TEXT      passes if TEXT is empty; else TEXT is what is wrong
#   tap_end                  prints the plan and exits

tap_count=0
tap_failed=0

tap_ok() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

tap_fail() {
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $1"
	[ -z "${2-}" ] || printf '%s\n' "$2" | sed 's/^/# /'
}

tap_skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

tap_run() {
	tap_name=$1
	shift
	if tap_output=$("$@" 2>&1); then
		tap_ok "$tap_name"
	else
		tap_fail "$tap_name" "exit status $?: $*
$tap_output"
	fi
}

tap_empty() {
	if [ -z "$2" ]; then
		tap_ok "$1"
	else
		tap_fail "$1" "$2"
	fi
}

tap_end() {
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit
}
