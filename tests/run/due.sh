#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Timing packets of the software CPU: a run whose gate is open until a packet is due makes the same
# packets as a run that reports each instruction, wherever the budget of the engine ends.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/run/settings.sh

# The packets of PAYLOAD in FILE. With --oracle the core reports each instruction.
packets() { # FILE PAYLOAD OPTION...
	pa_file=$1
	shift
	rm -f "$dir/it.vpt"
	soft out.txt "$dir/it.vpt" "$@" --max-insns=200000
	[ -s "$dir/it.vpt" ] || return 1
	"$VPT" dump "$dir/it.vpt" >"$dir/$pa_file"
}

# A snapshot ends the budget. With changes of the core clock to come there is no snapshot.
cuts() { # PAYLOAD OPTION...
	case "$*" in *@*) return 0 ;; esac
	packets cut "$@" --snapshot="$dir/it.vps" --snapshot-every=997 --mem=4M &&
		packets whole "$@" --mem=4M && cmp "$dir/cut" "$dir/whole"
}

same() { # PAYLOAD OPTION...
	packets each "$@" --oracle && packets open "$@" && grep -qE ' (MTC|CYC) ' "$dir/open" &&
		cmp "$dir/each" "$dir/open" && cuts "$@"
}

for payload in quicksort bytecode calls interrupts events exceptions; do
	for options in "--mtc=0" "--tsc --mtc" "--cyc" "--cyc=5 --psb=0" "--tsc --mtc --cyc" \
		"--mtc=6 --cyc=3 --cyc-bits=8" "--mtc --cyc --no-retc --user" \
		"--mtc --cyc --cbr=7" "--tsc --mtc --cbr=20,30@1000,9@5000:300"; do
		# shellcheck disable=SC2086 # options
		tap_run "$payload $options" same $payload --pt=host --model=spr $options
	done
done
tap_end
