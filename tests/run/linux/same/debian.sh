# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Debian's stock kernel and initramfs boot from an image with four vCPUs, write to the disk and power
# off. Snapshots at points of the boot and between the writes are resumed to the end.
points=5
script="systemd.run=\"/bin/sh -c 'dd if=/dev/zero of=/var/tmp/z bs=64k count=160 conv=fsync 2>&1; md5sum /usr/bin/* >/var/tmp/s; sync; echo sums=\$(wc -l </var/tmp/s) >/dev/console'\""

# session NAME OPTION...
session() {
	"$VPT" run -q -j --engine=soft --timeout=3000 --mem=1G --cpus=4 --pt=host --no-reboot \
		--disk="$debian/image" --disk="$debian/packages,ro" --virtio-rng --initrd="$debian/initrd" \
		-o "$dir/$1.vpt" --console="$dir/$1.con" \
		--append="console=ttyS0 root=/dev/vda loglevel=3 $script" "${@:2}" "$debian/vmlinuz" \
		>"$dir/$1.json" 2>"$dir/$1.err" || { cat "$dir/$1.err" && return 1; }
}

whole() {
	[ -e "$dir/whole.vpt" ] || session whole
}

finishes() {
	whole && tail -n 20 "$dir/whole.con" && grep -q "^sums=[0-9][0-9][0-9]" "$dir/whole.con"
}

# resumed PART: at a place in this part of the run, chosen by a fixed seed.
resumed() {
	local at
	whole || return
	at=$(awk -v all="$(retired whole)" -v points=$points -v i="$1" 'BEGIN {
		srand(i); rand(); printf "%d\n", (i + rand()) / points * all }')
	echo "at $at"
	session part --snapshot="$dir/part.vps" --snapshot-at="$at" && restore rest part &&
		cmp "$dir/whole.vpt" "$dir/rest.vpt" && cat "$dir/part.con" "$dir/rest.con" | cmp "$dir/whole.con" -
}

row "Debian, 4 vCPUs: the session ends" finishes
for part in $(seq 0 $((points - 1))); do
	row "Debian, 4 vCPUs: resumed in part $part" resumed "$part"
done
