#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The counter that puts code into its place (trace/format.h) counts what a decoder counts. So it has
# the INT n that an exception or an interrupt replaced, which look as if they had run.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/run/settings.sh

number() { # KEY
	sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$dir/said"
}

same() { # PAYLOAD OPTION...
	rm -f "$dir/it.vpt"
	soft out.txt "$dir/it.vpt" "$@" --oracle-blocks
	"$VPT" verify -j "$dir/it.vpt" >"$dir/said" || return 1
	counted=$("$VPT" info "$dir/it.vpt" | sed -n 's/.* instructions: //p')
	echo $((counted - $(number retired))) >>"$dir/extra"
	[ "$counted" = "$(number decoded)" ]
}

for payload in "storm --arg=1500" "compat --arg=160" "kernelmix --arg=600"; do
	for options in "--pt=guest --model=bdw" "--pt=guest --model=spr" "--pt=host --model=skl" \
		"--pt=host --model=spr --caps=ebx=0x1ff --events" "--pt=host --model=skl --user"; do
		# shellcheck disable=SC2086 # options
		tap_run "$payload $options" same $payload $options --seed=3
	done
done
extra=$(awk '{ sum += $1 } END { print sum }' "$dir/extra")
tap_run "$extra INT n did not run" test "$extra" -gt 1000
tap_end
