# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Snapshots of the cloud kernel's boot with four vCPUs: 50 points over the whole boot, chosen by a
# fixed seed, and points at which the other vCPUs wait for a SIPI and execute their first instructions.
# The snapshot at each point is taken by a run that was resumed from the one before. Each is resumed
# to the end, and writes the file of the uninterrupted run.
points=50

whole() {
	[ -e "$dir/whole.vpt" ] || boot "$VPT" whole boot --cpus=4
}

# insns NAME VCPU: traced instructions of a vCPU.
insns() {
	"$VPT" info -j "$dir/$1.vpt" | jq "[.vcpus[$2].sessions[].insns] | add // 0"
}

# first VCPU LOW: the least count, above LOW, at which the vCPU has executed an instruction.
first() {
	local low=$2 high middle
	high=$(retired whole)
	rm -f "$dir/low.vps"
	while [ $((high - low)) -gt 1 ]; do
		middle=$(((low + high) / 2))
		take "$middle" low middle >&2 || return
		if [ "$(insns middle "$1")" -gt 0 ]; then
			high=$middle
		else
			low=$middle
			mv "$dir/middle.vps" "$dir/low.vps"
		fi
	done
	echo "$high"
}

# take COUNT FROM NAME: the snapshot NAME at a count, resumed from the snapshot FROM if there is one.
take() {
	if [ -e "$dir/$2.vps" ]; then
		restore "$3" "$2" --snapshot="$dir/$3.vps" --snapshot-at="$1"
	else
		boot "$VPT" "$3" boot --cpus=4 --snapshot="$dir/$3.vps" --snapshot-at="$1"
	fi
}

# chosen COUNT: one point of each part of the boot.
chosen() {
	awk -v all="$(retired whole)" -v points=$points 'BEGIN {
		srand(32); for (i = 0; i < points; i++) printf "%d\n", (i + rand()) / points * all }'
}

# The console up to the last snapshot is in $dir/before.con.
ends_same() {
	restore rest last && cmp "$dir/whole.vpt" "$dir/rest.vpt" &&
		cat "$dir/before.con" "$dir/rest.con" | cmp "$dir/whole.con" -
}

# resumed COUNT: the next snapshot, and the run from there.
resumed() {
	take "$1" last part || return
	[ -e "$dir/last.vps" ] || : >"$dir/before.con"
	cat "$dir/part.con" >>"$dir/before.con"
	mv "$dir/part.vps" "$dir/last.vps"
	ends_same
}

row "4 vCPUs: the boot ends" whole
if [ -z "$(ledger_find points)" ]; then
	whole || exit 1
	at=0
	sipi=
	for vcpu in 1 2 3; do
		at=$(first $vcpu "$at") || exit 1
		for after in -20000 -200 -20 -2 -1 0 1 2 5 20 200 20000; do
			sipi="$sipi $((at + after))"
		done
	done
	ledger_note points "$(printf '%s\n' $sipi $(chosen) | sort -nu | tr '\n' ' ')"
fi
all=$(ledger_find points)
tap_run "points: $(wc -w <<<"$all")" test "$(wc -w <<<"$all")" -ge $((points + 30))
for point in $all; do
	row "4 vCPUs: resumed at $point" resumed "$point"
	# A later point is then reached from the start.
	[ -e "$dir/last.vps" ] || rm -f "$dir/before.con"
done
