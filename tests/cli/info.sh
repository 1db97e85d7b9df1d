#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What vpt info says of a file, held against what else is known of it.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

# PIPs outside PSB+, as vpt dump shows the packets.
pips() {
	"$VPT" dump "$1" | awk '$2 == "PSB" { psb = 1 } $2 == "PSBEND" { psb = 0 }
		$2 == "PIP" && !psb { n++ } END { print n + 0 }'
}

# A guest that traces itself while it switches page tables, and a host that traces one.
for how in guest:spaces host:kernelmix; do
	"$VPT" run -q --pt="${how%:*}" -o "$dir/t.vpt" "$GUEST/${how#*:}.elf" >"$dir/said" 2>&1
	count=$(pips "$dir/t.vpt")
	tap_run "${how%:*}: there are PIPs" test "$count" -gt 3
	said=$("$VPT" info "$dir/t.vpt" | sed -n 's/^vCPU 0 .* PIPs: \([0-9]*\).*/\1/p')
	tap_run "${how%:*}: info counts PIPs outside PSB+" test "$said" = "$count"
	said=$("$VPT" info --json "$dir/t.vpt" | sed -n 's/.*"pips":\([0-9]*\).*/\1/p')
	tap_run "${how%:*}: and so does --json" test "$said" = "$count"
done
tap_run "blocks of CR3 are not loads of CR3" sh -c "! '$VPT' info '$dir/t.vpt' | grep -q 'CR3 loads'"

# The end of a session has one name, whichever verb shows it, in text and in JSON.
for file in tests/cli/compat/files/*.vpt.gz; do
	name=$(basename "$file" .gz)
	gzip -dc "$file" >"$dir/t.vpt"
	"$VPT" info -n 100000 "$dir/t.vpt" 2>/dev/null |
		sed -n 's/^  session .*, end: \([^,]*\).*/\1/p' >"$dir/info"
	"$VPT" dump "$dir/t.vpt" 2>/dev/null | sed -n 's/^# vcpu .*, session .*CTL [^:]*: //p' >"$dir/dump"
	"$VPT" info -j "$dir/t.vpt" 2>/dev/null |
		jq -r '.vcpus[].sessions[] | .end + if .error then ": " + .error else "" end' >"$dir/info-j"
	"$VPT" dump -j "$dir/t.vpt" 2>/dev/null | jq -r 'select(has("session")) |
		.end + if .error then ": " + .error else "" end' >"$dir/dump-j"
	tap_run "$name: there are sessions" test -s "$dir/info"
	for how in dump info-j dump-j; do
		tap_run "$name: $how names the ends as info does" diff "$dir/info" "$dir/$how"
	done
	cat "$dir/info" >>"$dir/all"
done
tap_run "several ends were seen" test "$(sort -u "$dir/all" | wc -l)" -ge 6
tap_end
