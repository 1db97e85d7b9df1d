#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A boot of Linux that is traced to a file, beside the same boot that is also decoded while it runs. The
# two take turns. Nothing may be lost: the decoder's output must be that of the file.
# usage: live.sh [ROUNDS]
set -eu
cd "$(dirname "$0")/../.."
O=${O:-build/rel} rounds=${1:-5}
. tests/run/linux/initrd.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
linux=$(patches/tools/guest)
linux_initrd

boot() { # OUTPUT
	"$O/vpt" run -q --engine=soft --pt=host --no-reboot --mem=512M --initrd="$dir/initrd" -o "$1" \
		--console="$dir/console" \
		--append="console=ttyS0 loglevel=0 panic=-1 rdinit=/vpt-init boot" "$linux/vmlinuz"
}

live() {
	mkfifo "$dir/pipe"
	"$O/vpt" decode --follow "$dir/pipe" >"$dir/live" &
	boot "$dir/pipe"
	wait $!
	rm "$dir/pipe"
}

seconds() { # NAME COMMAND...
	s_name=$1
	shift
	s_from=$(date +%s%N)
	"$@"
	echo $((($(date +%s%N) - s_from) / 1000000)) >>"$dir/ms.$s_name"
}

round=0
while [ "$round" -lt "$rounds" ]; do
	seconds file boot "$dir/t.vpt"
	seconds live live
	[ "$round" -gt 0 ] || "$O/vpt" decode "$dir/t.vpt" >"$dir/want"
	cmp "$dir/want" "$dir/live"
	round=$((round + 1))
done
bytes=$(stat -c %s "$dir/t.vpt")
for name in file live; do
	sort -n "$dir/ms.$name" | awk -v name=$name '{ v[NR] = $1 } END { printf "%s %d %d %d\n", name,
		v[int((NR + 1) / 2)], v[1], v[NR] }'
done | awk -v bytes="$bytes" '{ m[$1] = $2
		printf "%-5s median %6.2f s, %.2f to %.2f s\n", $1, $2 / 1e3, $3 / 1e3, $4 / 1e3 }
	END { printf "%.2f times, of a trace of %.1f MB, decoded without a loss\n", m["live"] / m["file"], bytes / 1e6 }'
