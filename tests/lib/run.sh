#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Run test commands, some at a time, and add up their TAP.
# usage: run.sh [-j JOBS] [-d DIR] [-t SECONDS] [-l LAST] COMMAND...
#
# A COMMAND is one argument, split at blanks. A program named test_* is a libcheck
# suite, anything else prints TAP. Output is kept in DIR. A command that exits
# with an error without naming a failed test, prints no TAP, or breaks off before
# its plan counts as one failed test; so does a skip that tests/expected-skips
# doesn't list (for this machine: see there). The last line is "N passed, N failed", with ", N skipped" added
# if there were any.
#
# RUN, if set, is a program that runs the libcheck suites of another host.
#
# LAST is a command that runs after all others. What a libcheck suite proves (tests/lib/suite.h)
# is kept in DIR/NAME.proofs if all of its tests passed.
set -u

here=$(dirname "$0")
skips=$here/../expected-skips
# A guest that runs wild must not fill the disk with its trace.
ulimit -f 4194304
# Tests for KVM may be skipped where it cannot be used, and nowhere else.
kvm=
[ ! -r /dev/kvm ] || [ ! -w /dev/kvm ] || kvm=yes
jobs=2
dir=build/check
limit=600

# Judge one command's TAP: prints "passed failed skipped", then what to show.
judge() { # NAME TAP STATUS SKIPS
	awk -v name="$1" -v status="$3" -v skips="$4" -v kvm="$kvm" '
	BEGIN {
		while ((getline line < skips) > 0)
			if (sub(/^no-kvm /, "", line) && kvm)
				continue
			else if (line !~ /^#/ && line != "")
				expected[++nr_expected] = line
	}
	# A line of expected-skips: the start of "command: test", a tab, the reason.
	function is_expected(text,    i, part) {
		for (i = 1; i <= nr_expected; i++) {
			split(expected[i], part, "\t")
			if (index(name ": " text, part[1]) == 1)
				return 1
		}
		return 0
	}
	function wrong(text) { failed++; show = show "  not ok " text "\n"; bad = 1 }
	/^1\.\.[0-9]+/ { plan = substr($1, 4) + 0; planned = 1; next }
	/^(not )?ok / {
		seen++
		bad = 0
		text = $0
		sub(/^(not )?ok [0-9]* *-? */, "", text)
		if ($1 == "not") {
			wrong(text)
		} else if (text ~ /# *[Ss][Kk][Ii][Pp]/) {
			if (is_expected(text))
				skipped++
			else
				wrong("unexpected skip: " text)
		} else {
			passed++
		}
		next
	}
	/^#/ && bad { show = show "         " $0 "\n" }
	END {
		if (!seen && !(planned && plan == 0 && status == 0))
			wrong("printed no TAP, exit status " status)
		else if (!planned || plan != seen)
			wrong("broke off after " seen + 0 " tests, exit status " status)
		else if (status != 0 && !failed)
			wrong("exit status " status " though no test failed")
		printf "%d %d %d\n%s", passed, failed, skipped, show
	}' "$2"
}

names() { # reads commands, prints their names
	sed 's,^[^ ]*/,,; s/\.sh\( \|$\)/\1/'
}

run_one() { # COMMAND
	name=$(echo "$1" | names)
	slug=$dir/$(echo "$name" | tr -c 'A-Za-z0-9._\n-' '_')
	start=$(date +%s%N)
	rm -f "$slug.tap" "$slug.proofs"
	# shellcheck disable=SC2086 # a command line
	case $name in
	test_*)
		TEST_PROOFS=$slug.proofs CK_TAP_LOG_FILE_NAME=$slug.tap \
			timeout -k 5 "$limit" ${RUN:-} $1 >"$slug.log" 2>&1 </dev/null
		status=$?
		;;
	*)
		timeout -k 5 "$limit" $1 >"$slug.tap" 2>"$slug.log" </dev/null
		status=$?
		;;
	esac
	[ -e "$slug.tap" ] || : >"$slug.tap"
	judge "$name" "$slug.tap" "$status" "$skips" >"$slug.sum"
	{
		read -r passed failed skipped
		shown=$(cat)
	} <"$slug.sum"
	verdict=ok
	if [ "$failed" -ne 0 ]; then
		verdict=FAILED
		rm -f "$slug.proofs"
		[ ! -s "$slug.log" ] || shown="$shown
$(tail -n 15 "$slug.log" | sed 's/^/         | /')"
	fi
	ms=$((($(date +%s%N) - start) / 1000000))
	printf '%-7s %-28s %5d passed%s%s  %d.%01d s\n%s' "$verdict" "$name" "$passed" \
		"$([ "$failed" -eq 0 ] || echo ", $failed failed")" \
		"$([ "$skipped" -eq 0 ] || echo ", $skipped skipped")" \
		$((ms / 1000)) $((ms % 1000 / 100)) "${shown:+$shown
}"
}

last=
while getopts j:d:t:l:1: option; do
	case $option in
	j) jobs=$OPTARG ;;
	d) dir=$OPTARG ;;
	t) limit=$OPTARG ;;
	l) last=$OPTARG ;;
	1) one=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))

if [ -n "${one-}" ]; then
	run_one "$one"
	exit 0
fi

if [ $# -eq 0 ]; then
	echo "run.sh: there are no commands"
	echo "0 passed, 1 failed"
	exit 1
fi

# The results of two commands with one name would be in one file.
twice=$(printf '%s\n' "$@" ${last:+"$last"} | names | sort | uniq -d | tr '\n' ' ')
if [ -n "$twice" ]; then
	echo "run.sh: more than one test has the name: $twice"
	echo "0 passed, 1 failed"
	exit 1
fi

# Two runs at once would take each other's files away.
mkdir -p "$(dirname "$dir")" || exit 1
exec 9>"$dir.lock"
flock -n 9 || { echo "run.sh: waiting for another run in $dir" && flock 9; }
rm -rf "$dir"
mkdir -p "$dir" || exit 1
# Tests share two cores with each other: time limits are for hangs.
export CK_TIMEOUT_MULTIPLIER="${CK_TIMEOUT_MULTIPLIER:-10}"
# A fork with a sanitizer's shadow memory costs a fifth of a second, and a sanitizer
# ends the program at the first fault anyway.
case ${MODE:-rel} in
asan | ubsan | san | cov) export CK_FORK="${CK_FORK:-no}" ;;
esac
# The python3 of a version manager is a script. It looks for the interpreter at each start, which
# takes several times as long as the interpreter itself.
if python=$(command -v python3) && [ "$(head -c 2 "$python")" = '#!' ] &&
	python=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))'); then
	PATH=$python:$PATH
fi
export LC_ALL=C
printf '%s\n' "$@" | xargs -d '\n' -P "$jobs" -I '{}' \
	sh "$0" -d "$dir" -t "$limit" -1 '{}' 9>&-
[ -z "$last" ] || sh "$0" -d "$dir" -t "$limit" -1 "$last" 9>&-

want=$#
[ -z "$last" ] || want=$((want + 1))
find "$dir" -name '*.sum' -exec head -qn 1 '{}' + | awk -v want="$want" '
	{ n++; passed += $1; failed += $2; skipped += $3 }
	END {
		# A command whose runner itself vanished leaves no sum.
		failed += want - n
		printf "%d passed, %d failed%s\n", passed, failed,
			skipped ? ", " skipped " skipped" : ""
		exit failed != 0
	}'
