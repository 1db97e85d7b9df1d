#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the tools that build QEMU and the test bed show of a long command: on a terminal its last
# line, in place; elsewhere nothing. Its output is in the log, and its status counts.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

cat >"$dir/build" <<END
tool=build
VPT_CACHE=$dir/cache
. patches/tools/lib.sh
begin_log build.log
steps() {
	printf '[1/2] Compiling one\n'
	printf '[2/2] Linking two, with a warning\n' >&2
	return \$1
}
say "building"
logged build.log "it does not compile" steps \$1
say "built"
END
printf '[1/2] Compiling one\n[2/2] Linking two, with a warning\n' >"$dir/want.log"

# expect NAME TEXT: \$dir/got, without the CR of line ends.
expect() {
	printf "$2" >"$dir/want"
	tr '\r' @ <"$dir/got" | sed 's/@$//' >"$dir/text"
	tap_empty "$1" "$(diff "$dir/want" "$dir/text")"
	tap_run "$1: the log" cmp "$dir/want.log" "$dir/cache/build.log"
}

script -qec "sh $dir/build 0 >$dir/out" /dev/null </dev/null >"$dir/got"
tap_run "a terminal: status" test $? -eq 0
expect "a terminal" 'build: building\n@\033[K[1/2] Compiling one@\033[K[2/2] Linking two, with a warning@\033[Kbuild: built\n'
tap_run "a terminal: standard output is not touched" test ! -s "$dir/out"
script -qec "sh $dir/build 7" /dev/null </dev/null >"$dir/got"
tap_run "a terminal: a command that fails: status" test $? -eq 1
tail -n 3 "$dir/got" | sed "s/.*$(printf '\033')\[K//" >"$dir/last" && mv "$dir/last" "$dir/got"
expect "a terminal: a command that fails" \
	"[1/2] Compiling one\n[2/2] Linking two, with a warning\nbuild: it does not compile: the log is $dir/cache/build.log\n"
sh "$dir/build" 0 >"$dir/got" 2>&1
tap_run "a file: status" test $? -eq 0
expect "a file" 'build: building\nbuild: built\n'
sh "$dir/build" 7 >"$dir/got" 2>&1
tap_run "a file: a command that fails: status" test $? -eq 1
tap_end
