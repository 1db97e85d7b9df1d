#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The shared libraries: their symbols are the functions that the public headers declare, their
# sonames are those of vpt/version.h, and the layout of what a caller owns is that of the soname.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
O=${O:-build/${MODE:-rel}}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# The value of a macro of vpt/version.h.
version() { # MACRO
	printf '#include "vpt/version.h"\n%s\n' "$1" | gcc -E -P -Ishared/include - | tail -n 1 | tr -d '" '
}

# The functions that headers declare and do not define. gcc lists "/* FILE:LINE:WHAT */ PROTOTYPE",
# with C at the end of WHAT for a prototype and F for a definition.
declared() { # NAME-PATTERN HEADER...
	pattern=$1
	shift
	for header; do printf '#include "%s"\n' "$PWD/$header"; done >"$dir/all.c"
	gcc -Ishared/include -fsyntax-only -aux-info "$dir/functions" "$dir/all.c"
	sed -n 's,^/\* [^*]*:[A-Z]*C \*/ extern ,,p' "$dir/functions" | grep -oE "\<$pattern \(" |
		sed 's/ ($//' | LC_ALL=C sort -u
}

exported() { # LIBRARY: its own symbols, without versions' names
	nm -D --defined-only "$1" | awk '$2 ~ /^[A-Z]$/ { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort
}

archived() { # ARCHIVE: its global symbols
	nm -g --defined-only "$1" | awk 'NF == 3 { print $3 }' | grep -vE '^__(asan|ubsan|odr_asan)_' |
		LC_ALL=C sort -u
}

soname() {
	readelf -dW "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'
}

compare() { # LIBRARY LEAST PATTERN HEADER...
	library=$1 least=$2
	shift 2
	declared "$@" >"$dir/declared"
	exported "$library" >"$dir/exported"
	name=$(basename "$library")
	tap_run "$name: headers declare at least $least functions" \
		test "$(wc -l <"$dir/declared")" -ge "$least"
	tap_empty "$name: each function of the headers is exported" \
		"$(comm -23 "$dir/declared" "$dir/exported")"
	tap_empty "$name: nothing else is" "$(comm -13 "$dir/declared" "$dir/exported")"
	tap_run "$name: its file is named as its soname" test "$(soname "$library")" = "$name"
	tap_empty "$name: nothing is undefined" "$(ldd -r "$library" 2>&1 | grep 'undefined symbol' |
		grep -vE '__(asan|ubsan|sanitizer|lsan|gcov)_')"
}

vpt=$O/libvpt.so.$(version VPT_ABI)
# shellcheck disable=SC2046 # a list of files
compare "$vpt" 130 'vpt_[a-z0-9_]+' $(.ci/files 'shared/include/vpt/*.h' | grep -v /abi/)
declared 'vpt_[a-z0-9_]+' $(.ci/files 'shared/include/vpt/*.h' | grep -v /abi/) >"$dir/declared"
archived "$O/libvpt.a" >"$dir/archived"
tap_empty "libvpt.a: its global symbols are the functions of the headers" \
	"$(comm -3 "$dir/declared" "$dir/archived")"
compare "$O"/libvptdecode.so.0 20 'vptd_[a-z0-9_]+' vmm/libdecode/vptdecode.h
tap_empty "libvpt needs no other library than libc" "$(readelf -dW "$vpt" |
	sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc|lib(a|ub)san|ld-linux-x86-64)\.so')"

# One version, wherever it is written.
tap_run "vpt/version.h and the Makefile name one version" \
	test "$(version VPT_VERSION_STRING)" = "$(sed -n 's/^VERSION := //p' Makefile)"
tap_run "vpt --version does, too" test "vpt $(version VPT_VERSION_STRING)" = "$("$O/vpt" --version)"

# What a program has compiled in. A difference needs another VPT_ABI, and then these numbers.
cat >"$dir/sizes.c" <<'END'
#include <stdio.h>
#include "vpt/atom.h"
#include "vpt/pt.h"
#include "vpt/packet.h"
#include "vpt/state.h"
#include "vpt/usage.h"
#include "vpt/version.h"

#define SIZE(type) printf("%s %zu\n", #type, sizeof(struct type))
int main(void)
{
	printf("VPT_ABI %d\n", VPT_ABI);
	SIZE(vpt_atom);
	SIZE(vpt_caps);
	SIZE(vpt_clock);
	SIZE(vpt_context);
	SIZE(vpt_event);
	SIZE(vpt_gate);
	SIZE(vpt_mem_ops);
	SIZE(vpt_output);
	SIZE(vpt_packet);
	SIZE(vpt_parser);
	SIZE(vpt_pt);
	SIZE(vpt_pt_ops);
	SIZE(vpt_pt_options);
	SIZE(vpt_pt_state);
	SIZE(vpt_rtit);
	return 0;
}
END
tap_run "sizes compile" gcc -std=c11 -Wall -Wextra -Werror -Ishared/include -o "$dir/sizes" "$dir/sizes.c"
tap_empty "structs of this ABI have the sizes that docs/abi/libvpt.sizes lists" \
	"$("$dir/sizes" | diff docs/abi/libvpt.sizes - 2>&1)"
tap_end
