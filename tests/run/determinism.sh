#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The software CPU: the same guest, model and seed make the same trace file and the
# same output, byte for byte.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/run/settings.sh

# With another environment, another stack, and other bytes in memory that nobody has set:
# nothing of it shows.
elsewhere() (
	MALLOC_PERTURB_=90
	LONG=$(seq 1000)
	export MALLOC_PERTURB_ LONG
	soft "$@"
)

twice() { # PAYLOAD OPTION...
	soft first.txt "$dir/first.vpt" "$@" &&
		elsewhere second.txt "$dir/second.vpt" "$@" &&
		cmp "$dir/first.vpt" "$dir/second.vpt" && cmp "$dir/first.txt" "$dir/second.txt"
}

settings >"$dir/settings"
while read -r setting; do
	# shellcheck disable=SC2086 # a command line
	tap_run "$setting" twice $setting
done <"$dir/settings"

# So does a snapshot, which has all that the machine has.
snapshots() {
	soft first.txt "$dir/first.vpt" processes --snapshot="$dir/first.vps" --snapshot-at=50000 &&
		elsewhere second.txt "$dir/second.vpt" processes --snapshot="$dir/second.vps" \
			--snapshot-at=50000 &&
		cmp "$dir/first.vps" "$dir/second.vps"
}
tap_run "snapshots at the same place" snapshots

# A different seed is a different guest: what is compared is not always the same.
another() {
	soft first.txt "$dir/first.vpt" random --seed=1 &&
		soft second.txt "$dir/second.vpt" random --seed=2 &&
		! cmp -s "$dir/first.vpt" "$dir/second.vpt"
}
tap_run "another seed makes another trace" another
tap_end
