#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The compiler of the software CPU is the folder vmm/soft/compile. A copy of the sources without the
# folder must build, and its vpt must write the same traces. Only the objects that depend on the
# folder or on its header are compiled again.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/run/settings.sh
MODE=${MODE:-rel}
O=${O:-build/$MODE}
# Not those of a make that may have been asked for another mode.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
compiler=vmm/soft/compile
copy=$dir/copy
built=$copy/build/$MODE
mkdir -p "$built" || exit 1

.ci/files Makefile '*.mk' 'vmm/*' 'shared/*' 'tests/*/configs' | grep -v "^$compiler/" |
	xargs cp -p --parents -t "$copy"
(cd "$O" && { echo flags && find vmm shared -name '*.o'; } | grep -v "^$compiler/" |
	xargs cp -p --parents -t "$built")
users=$(cd "$copy" && grep -l '^#include "soft/compile[./]' vmm/*/*.[ch])
for file in $users; do
	rm -f "$built/${file%.c}.o"
done

tap_empty "only sources of the software CPU include the compiler's header" \
	"$(echo "$users" | grep -v '^vmm/soft/[a-z_]*\.c$')"
# The folder is a part of the flags, but no other object depends on this flag.
tap_run "vpt builds without $compiler" \
	make -s -j2 -C "$copy" MODE="$MODE" O="build/$MODE" -o "build/$MODE/flags" "build/$MODE/vpt"
soft_functions() { nm "$1" | grep -E ' [Tt] soft_(compile|emit|hold|unit)' | head -n 3; }
tap_run "the usual vpt has the compiler" test -n "$(soft_functions "$VPT")"
tap_empty "this vpt does not" "$(soft_functions "$built/vpt")"

# same PAYLOAD: the trace and the console of both.
same() {
	soft with "$dir/with.vpt" "$@" --pt=host &&
		(VPT=$built/vpt && soft without "$dir/without.vpt" "$@" --pt=host) &&
		cmp "$dir/with.vpt" "$dir/without.vpt" && cmp "$dir/with" "$dir/without"
}
for payload in demo quicksort bytecode; do
	tap_run "$payload: the same trace" same "$payload"
done
tap_end
