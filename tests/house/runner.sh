#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The test runner counts what it must: passes, and everything that isn't one.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# counts NAME LAST-LINE SCRIPT...: each script is the text of one test command.
counts() {
	name=$1
	last=$2
	shift 2
	n=0
	for text in "$@"; do
		n=$((n + 1))
		printf '#!/bin/sh\n%s\n' "$text" >"$dir/t$n"
		chmod +x "$dir/t$n"
	done
	tests/lib/run.sh -t "${limit:-60}" -d "$dir/out" $(seq -f "$dir/t%.0f" $n) >"$dir/log" 2>&1
	status=$?
	got=$(tail -n 1 "$dir/log")
	case $last in
	*" 0 failed"*) want=0 ;;
	*) want=1 ;;
	esac
	if [ "$got" = "$last" ] && [ $status -eq $want ]; then
		tap_ok "$name"
	else
		tap_fail "$name" "last line '$got', status $status, wanted '$last', $want"
	fi
}

counts "passes" "3 passed, 0 failed" 'echo "ok 1 - a"; echo "ok 2 - b"; echo 1..2' \
	'echo "1..1"; echo "ok 1 - c"'
counts "failures" "1 passed, 2 failed" 'echo "not ok 1 - a"; echo "ok 2 - b"; echo 1..2' \
	'echo "not ok 1 - c"; echo 1..1; exit 1'
counts "a crash after a pass" "1 passed, 1 failed" 'echo "ok 1 - a"; kill -SEGV $$'
counts "an exit status without a failed test" "1 passed, 1 failed" \
	'echo "ok 1 - a"; echo 1..1; exit 3'
counts "silence" "0 passed, 1 failed" 'exit 0'
counts "a plan that isn't kept" "1 passed, 1 failed" 'echo 1..2; echo "ok 1 - a"'
limit=2 counts "a hang" "1 passed, 1 failed" 'echo "ok 1 - a"; exec sleep 60'
counts "an unexpected skip" "1 passed, 1 failed" \
	'echo "ok 1 - a"; echo "ok 2 - b # SKIP no reason"; echo 1..2'
mkdir "$dir/one" "$dir/two"
printf '#!/bin/sh\necho "ok 1 - a"; echo 1..1\n' | tee "$dir/one/same.sh" >"$dir/two/same.sh"
chmod +x "$dir/one/same.sh" "$dir/two/same.sh"
tests/lib/run.sh -t 2 -d "$dir/out" "$dir/one/same.sh" "$dir/two/same.sh" >"$dir/log" 2>&1 &&
	echo "status 0" >>"$dir/log"
tap_empty "two tests of one name are refused" "$(printf '%s\n' \
	"run.sh: more than one test has the name: same " "0 passed, 1 failed" | diff - "$dir/log")"
timeout 10 tests/lib/run.sh -d "$dir/out" >"$dir/log" 2>&1
echo "status $?" >>"$dir/log"
tap_empty "a run without a command fails" "$(printf '%s\n' "run.sh: there are no commands" \
	"0 passed, 1 failed" "status 1" | diff - "$dir/log")"
# suite NAME LINE...: a libcheck suite: a script that writes TAP and a proof where it is told.
suite() {
	name=$1
	shift
	{
		echo '#!/bin/sh'
		echo 'echo FACT >>"$TEST_PROOFS"'
		printf 'echo "%s" >>"$CK_TAP_LOG_FILE_NAME"\n' "$@"
	} >"$dir/test_$name"
	chmod +x "$dir/test_$name"
}

suite good "1..1" "ok 1 - a"
suite bad "1..2" "ok 1 - a" "not ok 2 - b"
printf '#!/bin/sh\nls "$1"/*.proofs | sed "s,.*/,ok 1 - ,"; echo 1..1\n' >"$dir/list"
chmod +x "$dir/list"
tests/lib/run.sh -d "$dir/out" -l "$dir/list $dir/out" "$dir/test_bad" "$dir/test_good" >"$dir/log"
tap_run "the last command runs last and is counted" grep -qx '3 passed, 1 failed' "$dir/log"
tap_run "a suite that passed keeps its proofs" grep -qx FACT "$dir/out/test_good.proofs"
tap_run "a suite that failed loses its proofs" test ! -e "$dir/out/test_bad.proofs"

# A python3 that is a script, as of a version manager.
mkdir "$dir/shims"
python=$(python3 -c 'import sys; print(sys.executable)')
printf '#!/bin/sh\nexec %s "$@"\n' "$python" >"$dir/shims/python3"
printf '#!/bin/sh\n[ "$(command -v python3)" = %s ] && echo "ok 1 - a"; echo 1..1\n' "$python" >"$dir/finds"
chmod +x "$dir/shims/python3" "$dir/finds"
PATH=$dir/shims:$PATH tests/lib/run.sh -d "$dir/out" "$dir/finds" >"$dir/log"
tap_run "commands run the interpreter itself, not a script" grep -qx '1 passed, 0 failed' "$dir/log"

mkdir -p "$dir/lib"
cp tests/lib/run.sh "$dir/lib/"
printf 't1: b\ta reason\n' >"$dir/expected-skips"
tap_run "an expected skip" sh -c "
	printf '#!/bin/sh\necho \"ok 1 - b # SKIP x\"; echo 1..1\n' >$dir/t1
	[ \"\$($dir/lib/run.sh -d $dir/out $dir/t1 | tail -n 1)\" = '0 passed, 0 failed, 1 skipped' ]"
counts "a command that isn't there" "0 passed, 1 failed" "exec $dir/none"
tap_end
