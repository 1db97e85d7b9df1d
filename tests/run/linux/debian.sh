#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A Debian with its stock kernel and initramfs boots from an image on the software CPU, installs a
# package of a second disk, compiles and runs a program, and powers off. The image does not change.
# usage: debian.sh CODENAME CPUS [traced|reboot]
#
# traced: what is decoded is what ran, in all processes. reboot: the guest reboots once before.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
codename=$1
cpus=$2
how=${3:-}

debian=$(patches/tools/debian "$codename") || exit 1
args=(--pt=off)
append=
[ "$how" != traced ] || args=(--pt=host --verify)
[ "$how" != reboot ] || append=" vpt.reboot"
[ "$cpus" -eq 1 ] || args+=(--cpus="$cpus")
before=$(md5sum <"$debian/image")
"$VPT" run -q --engine=soft --timeout=1500 --mem=1G --disk="$debian/image" --disk="$debian/packages,ro" \
	--virtio-rng --initrd="$debian/initrd" --console="$dir/con" \
	--append="console=ttyS0 root=/dev/vda loglevel=3$append" "${args[@]}" "$debian/vmlinuz" 2>"$dir/err"
status=$?
tr -d '\r' <"$dir/con" >"$dir/txt"
tap_run "$codename boots with $cpus vCPUs and powers off" test "$status" -eq 0
tap_run "it reaches multi-user with all processors" grep -qE "^debian: .* with $cpus processors" "$dir/txt"
tap_empty "no unit failed" "$(grep "^debian: failed" "$dir/txt")"
tap_run "a package of a disk is installed" grep -qx "debian: hello says Hello, world!" "$dir/txt"
tap_run "a program is compiled and runs" grep -qx "debian: compiled 42" "$dir/txt"
tap_run "the session reaches its end" grep -qx "debian: end" "$dir/txt"
tap_empty "no complaint but those of the lists" "$(sed -n 's/^complaint //p' "$dir/txt" |
	while read -r line; do
		cut -f 2 tests/run/linux/complaints tests/run/linux/debian/complaints | grep -qxF "$line" || echo "$line"
	done)"
tap_run "the image is as it was" test "$before" = "$(md5sum <"$debian/image")"
[ "$how" != reboot ] || tap_run "it has rebooted" grep -qx "debian: first boot" "$dir/txt"
[ "$how" != traced ] ||
	tap_run "$(grep -m 1 " retired" "$dir/err")" grep -q " retired, .* 0 mismatches" "$dir/err"
tap_end
