#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each verb under failing allocations and system calls: see faults.c.
# usage: faults.sh MAX          each of the first MAX calls fails; resumes from the ledger
#        faults.sh -s SAMPLE    SAMPLE of the first 200 calls of each kind fail, three cases a verb
set -eu
cd "$(dirname "$0")/../../.."
. tests/lib/refuse.sh
dir=${O:-build/${MODE:-rel}}/faults
mkdir -p "$dir"
tests/fuzz/faults/inputs.sh "$dir/in" || exit 1
if [ "$1" = -s ]; then
	exec "$TOOLS/faults-run" -n 200 -e "$2" -q "$VPT" "$TOOLS/faults-shim.so" tests/fuzz/faults/cases "$dir"
fi
exec "$TOOLS/faults-run" -n "$1" -l "$dir/ledger" "$VPT" "$TOOLS/faults-shim.so" tests/fuzz/faults/cases \
	"$dir"
