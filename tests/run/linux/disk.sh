#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's generic kernel finds the PCI bus, reads and writes a disk whose image does not change, and
# executes a program of another disk, which is a qcow2 image. Runs are the same with other times of
# the host. With rw the guest changes the image, and --cpus=4 sees the same bytes.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/run/linux/initrd.sh

linux=$(patches/tools/guest) || exit 1
generic=$(patches/tools/kernel generic) || exit 1
mkdir -p "$dir/own/9p"
cp "$generic"/*.ko "$dir/own/9p"
linux_initrd
for i in $(seq 1 2000); do printf '%08x%1015d\n' "$i" 7; done >"$dir/image"
cp "$dir/image" "$dir/same"
cp /bin/busybox "$dir/program"
truncate -s %512 "$dir/program"
cp "$dir/program" "$dir/echo"
{
	cat "$dir/image"
} | dd of="$dir/changed" bs=64k 2>/dev/null
dd if=/dev/zero of="$dir/changed" bs=64k count=4 seek=3 conv=notrunc 2>/dev/null

# boot NAME ARG...: run it; the console goes to NAME.con. Sets $status.
boot() {
	"$VPT" run -q --engine=soft --no-reboot --timeout=400 --mem=512M --initrd="$dir/initrd" --virtio-rng \
		--console="$dir/$1.con" --append="console=ttyS0 loglevel=0 panic=-1 rdinit=/vpt-init disk" \
		"${@:2}" "$generic/vmlinuz" 2>"$dir/$1.err"
	status=$?
	tr -d '\r' <"$dir/$1.con" >"$dir/$1.txt"
}

sum() { md5sum <"$1"; }

boot first --disk="$dir/image" --disk="$dir/program,ro" --pt=host -o "$dir/first.vpt"
tap_run "Linux boots with two disks and powers off" test "$status" -eq 0
tap_run "the disk has the bytes of the image" grep -qx "disk: $(sum "$dir/image")" "$dir/first.txt"
tap_run "and then those that the guest wrote" grep -qx "disk: $(sum "$dir/changed")" "$dir/first.txt"
tap_run "the image is as it was" cmp "$dir/image" "$dir/same"
tap_run "a disk with ro cannot be written" grep -qx "disk: vdb is read-only" "$dir/first.txt"
tap_run "a program of a disk runs" grep -qx "disk: executed" "$dir/first.txt"
tap_empty "the modules are there" "$(grep "disk: no" "$dir/first.txt")"
tap_empty "no complaint but those of tests/run/linux/complaints" "$(sed -n 's/^complaint //p' "$dir/first.txt" |
	while read -r line; do
		cut -f 2 tests/run/linux/complaints | grep -qxF "$line" || echo "$line"
	done)"
boot verified --disk="$dir/image" --disk="$dir/program,ro" --pt=host --verify
tap_run "what is decoded is what ran" grep -q " retired, .* 0 mismatches" "$dir/verified.err"
boot second --disk="$dir/image" --disk="$dir/program,ro" --pt=host -o "$dir/second.vpt"
tap_run "the same console again" cmp "$dir/first.con" "$dir/second.con"
tap_run "the same file again" cmp "$dir/first.vpt" "$dir/second.vpt"
rm -f "$dir/second.vpt"

# Snapshots before the end, while the guest uses its disks, resume to the same file.
insns=$("$VPT" info -j "$dir/first.vpt" | jq '.vcpus[0].sessions[0].insns')
for before in 50000000 20000000; do
	boot part --disk="$dir/image" --disk="$dir/program,ro" --pt=host -o "$dir/part.vpt" \
		--snapshot="$dir/s.vps" --snapshot-at=$((insns - before))
	"$VPT" restore -q --console="$dir/rest.con" -o "$dir/resumed.vpt" "$dir/s.vps" 2>/dev/null
	tap_run "resumed $before instructions before the end: the same file" cmp "$dir/first.vpt" "$dir/resumed.vpt"
	rm -f "$dir/part.vpt" "$dir/resumed.vpt" "$dir/s.vps"
done
rm -f "$dir/first.vpt"

boot four --cpus=4 --disk="$dir/image" --disk="$dir/program,ro" --pt=off
tap_run "with four vCPUs" grep -qx "disk: $(sum "$dir/changed")" "$dir/four.txt"
boot full --disk="$dir/image,overlay=64K" --disk="$dir/program,ro" --pt=off
tap_run "a full overlay is told" grep -q "fill the overlay of .*: use --disk=FILE,overlay=SIZE" "$dir/full.err"
boot writes --disk="$dir/image,rw" --disk="$dir/program,ro" --pt=off
tap_run "rw: the guest changed the image" cmp "$dir/image" "$dir/changed"
tap_run "the image of ro is as it was" cmp "$dir/program" "$dir/echo"
tap_end
