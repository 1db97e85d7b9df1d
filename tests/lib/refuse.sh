# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Source it: a wrong command gets one line on stderr and its exit status.

VPT=${O:-build/${MODE:-rel}}/vpt
GUEST=${O:-build/${MODE:-rel}}/guest
TOOLS=${O:-build/${MODE:-rel}}/tests

# Exit statuses of vmm/cli/cli.h. Sourced, so used elsewhere.
# shellcheck disable=SC2034
{
	FAIL=1
	USAGE=2
	INPUT=3
	HOST=4
}

# refuses NAME STATUS WORDS VERB [ARG...]: `vpt VERB ARG...` must end with STATUS and say
# one line, "vpt VERB: ...", that has WORDS (an extended regular expression) in it.
refuses() {
	rf_name=$1
	rf_status=$2
	rf_words=$3
	shift 3
	refuses_as "$rf_name" "$rf_status" "$rf_words" "$1" "$VPT" "$@"
}

# refuses_as NAME STATUS WORDS VERB COMMAND...: the same for a whole command line.
refuses_as() {
	rf_name=$1
	rf_status=$2
	rf_words=$3
	rf_verb=$4
	shift 4
	rf_said=$("$@" 2>&1 >/dev/null)
	rf_got=$?
	rf_lines=$(printf '%s\n' "$rf_said" | wc -l)
	if [ $rf_got -ne "$rf_status" ]; then
		tap_fail "$rf_name" "exit status $rf_got, not $rf_status: $*
$rf_said"
	elif [ "$rf_lines" -ne 1 ] || [ "${rf_said#vpt "$rf_verb": }" = "$rf_said" ]; then
		tap_fail "$rf_name" "stderr is not one line 'vpt $rf_verb: ...': $*
$rf_said"
	elif ! printf '%s\n' "$rf_said" | grep -qE -e "$rf_words"; then
		tap_fail "$rf_name" "no '$rf_words' in it: $*
$rf_said"
	else
		tap_ok "$rf_name"
	fi
}
