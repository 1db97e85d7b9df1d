#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a build for aarch64 refuses: big-endian code when it is compiled, and verbs that need the VMM.
# usage: CROSS=DIR CC=COMPILER refused.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
CC=${CC:-aarch64-linux-gnu-gcc}
VPT="${RUN:-qemu-aarch64} ${CROSS:-build/aarch64}/vpt"

compile() { # FILE OPTION...
	file=$1
	shift
	# -mbig-endian has no libc, so files with one get the macro alone.
	"$CC" "$@" -w -ffreestanding -Ishared/include -Ivmm -D_GNU_SOURCE -fsyntax-only "$file" >"$dir/said" 2>&1
}

refused() { # FILE OPTION...
	if compile "$@"; then
		tap_fail "$* compiles"
	elif [ "$(grep 'error:' "$dir/said" | grep -c '#error "vpt supports only little-endian hosts')" -ne 1 ] ||
		[ "$(grep -c 'error:' "$dir/said")" -ne 1 ]; then
		tap_fail "$*: not one error" "$(cat "$dir/said")"
	else
		files=$((files + 1))
	fi
}

files=0
for file in shared/src/*.c; do
	compile "$file" -mlittle-endian || tap_fail "$file does not compile" "$(cat "$dir/said")"
	refused "$file" -mbig-endian
done
for file in shared/src/*.c vmm/libdecode/decoder*.c vmm/libdecode/pt*.c; do
	refused "$file" -U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__
done
tap_run "at least 130 compilations for a big-endian host were refused" test "$files" -ge 130

verbs=$(sed -n 's/^VERB_VMM(\([a-z]*\))$/\1/p' vmm/cli/verbs.def)
count=0
for verb in $verbs; do
	for arguments in "$verb x" "$verb --help" "help $verb"; do
		# shellcheck disable=SC2086 # command lines
		said=$($VPT $arguments 2>&1)
		status=$?
		[ $status -eq 4 ] && [ "$said" = "vpt $verb: this build has no software CPU, no KVM and no PT hardware: use vpt on x86-64" ] ||
			tap_fail "vpt $arguments" "exit status $status: $said"
		count=$((count + 1))
	done
	# shellcheck disable=SC2086 # command lines
	$VPT --help | grep -q "^  $verb " && tap_fail "vpt --help has $verb"
	grep -q "$verb)" "${CROSS:-build/aarch64}/completion.bash" && tap_fail "the completion has $verb"
done
tap_run "at least 24 command lines were refused" test "$count" -ge 24
for verb in $(sed -n 's/^VERB(\([a-z]*\))$/\1/p' vmm/cli/verbs.def); do
	# shellcheck disable=SC2086 # command lines
	tap_run "vpt $verb --help" $VPT "$verb" --help
done
tap_end
