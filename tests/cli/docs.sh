#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What docs/getting-started.md tells the reader to type does what it says.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/refuse.sh
. tests/lib/roundtrip.sh
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
bin=$(cd "$(dirname "$VPT")" && pwd)
guide=$PWD/docs/getting-started.md

# The n-th block of shell in the guide.
block() {
	awk -v want="$1" '/^```/ { inside = /sh$/; n += inside; next } inside && n == want' "$guide"
}

in_shell() { # BLOCK: with vpt in the path, in a folder of its own
	block "$1" | sed "s,build/rel/,$bin/,g" >"$dir/block.sh"
	(cd "$dir" && PATH=$bin:$PATH sh -eu block.sh)
}

tap_run "the block that traces a payload is the second" sh -c 'echo "$1" | grep -q "vpt verify"' \
	sh "$(block 2)"
tap_run "tracing a payload" in_shell 2
tap_run "the block with a guest of one's own is the fourth" \
	sh -c 'echo "$1" | grep -q hello.S' sh "$(block 4)"
tap_run "a guest of one's own" in_shell 4
tap_run "it says hello" sh -c "'$VPT' run --pt=host -q -o '$dir/h.vpt' '$dir/hello.elf' | grep -qx hello"
tap_run "its trace has its first instruction" sh -c \
	"'$VPT' decode --insn '$dir/hello.vpt' | grep -q '_start .*mov rsi'"
tap_end
