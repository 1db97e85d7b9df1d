#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Files of which a careless reader makes far more memory, or far more work, than they have
# bytes.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
within=$TOOLS/within

# Each list of a process's pages once had room for the pages of all processes: 1.4 GB for
# these, 5.5 GB for twice as many.
"$TOOLS/mkvpt" spaces 10000 "$dir/spaces.vpt"
tap_run "10,000 address spaces: export" "$within" 200 10 "$VPT" export -q --to perf \
	"$dir/spaces.vpt" "$dir/perf"
tap_run "10,000 address spaces: a file of code each" sh -c \
	"[ \"\$(ls '$dir/perf/code' | wc -l)\" -eq 10000 ]"
rm -rf "$dir/perf"
tap_run "10,000 address spaces: a tree each" "$within" 200 2 "$VPT" decode --calls --spaces \
	--limit=10 "$dir/spaces.vpt"
rm "$dir/spaces.vpt"

# libipt looks for each new section among all that it has: 20 s for these.
"$TOOLS/mkvpt" scattered 20000 "$dir/scattered.vpt"
tap_run "20,000 scattered pages of code" "$within" 200 2 "$VPT" decode -q "$dir/scattered.vpt"
tap_run "20,000 scattered pages: each is run" sh -c \
	"'$VPT' decode '$dir/scattered.vpt' | grep -qx 'instructions   20000, .*'"
rm "$dir/scattered.vpt"

# ELF files whose debug sections are compressed: 2.9 GB for these.
"$TOOLS/mkvpt" inflated 10 "$dir/inflated.vpt"
"$TOOLS/mkvpt" rows 10 "$dir/rows.vpt"
for kind in inflated rows; do
	tap_run "$kind: memory of --coverage" "$within" 200 5 sh -c \
		"'$VPT' decode -g '$dir/$kind.vpt' 2>/dev/null; [ \$? -eq 3 ]"
	refuses "$kind: what is left out is said" "$INPUT" \
		"lines are missing: hostile.elf: .*takes more memory.* decompress it" \
		decode -g "$dir/$kind.vpt"
	refuses "$kind: and by --lines" "$INPUT" "lines are missing" decode -il "$dir/$kind.vpt"
	tap_run "$kind: without lines nothing is missing" "$VPT" decode -t "$dir/$kind.vpt"
	rm "$dir/$kind.vpt"
done

# Names that overlap in the file: 4 GB of them in the export.
"$TOOLS/mkvpt" names 4096 "$dir/names.vpt"
tap_run "overlapping names: export" "$within" 100 5 sh -c \
	"'$VPT' export -q --to perf '$dir/names.vpt' '$dir/perf' 2>/dev/null; [ \$? -eq 3 ]"
tap_run "overlapping names: what is written" sh -c "[ \$(du -sm '$dir/perf' | cut -f1) -lt 50 ]"
refuses "overlapping names: what is left out is said" "$INPUT" "names are missing: hostile.elf: " \
	export -q --to perf "$dir/names.vpt" "$dir/perf2"
refuses "overlapping names: decode" "$INPUT" "names or lines are missing" decode "$dir/names.vpt"
tap_end
