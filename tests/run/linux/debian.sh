#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A Debian boots from an image on the software CPU, installs a package of a second disk, compiles and
# runs a program, and powers off. The image does not change. The kernel is Debian's with its initramfs,
# or one of our own without.
# usage: debian.sh CODENAME CPUS [own] [traced|reboot]
#
# own: the kernel of patches/tools/own-kernel, which mounts the disk itself. traced: what is decoded is
# what ran, in all processes. reboot: the guest reboots once before.
#
# A row that passed is in a ledger below $O with its figures. It does not run again with the same
# command, image, kernel and scripts. The console of the last run is beside the ledger.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/lib/ledger.sh
row=$*
codename=$1
cpus=$2
shift 2
own=
[ "${1:-}" != own ] || { own=own; shift; }
how=${1:-}

debian=$(patches/tools/debian "$codename") || exit 1
kernel=$debian
[ -z "$own" ] || kernel=$(patches/tools/own-kernel) || exit 1

lists=(tests/run/linux/complaints)
[ -n "$own" ] || lists+=(tests/run/linux/debian/complaints)

ledger_open debian "$debian $kernel" tests/lib/*.sh tests/run/linux/debian.sh "${lists[@]}"
passed=$(ledger_find "$row")
if [ -n "$passed" ]; then
	tap_ok "$row passed before: $passed"
	tap_end
fi

args=(--pt=off)
append=
[ "$how" != traced ] || args=(--pt=host --verify)
[ "$how" != reboot ] || append=" vpt.reboot"
[ "$cpus" -eq 1 ] || args+=(--cpus="$cpus")
[ -n "$own" ] || args+=(--initrd="$debian/initrd")
before=$(md5sum <"$debian/image")
"$VPT" run -j --engine=soft --timeout=3000 --mem=1G --disk="$debian/image" --disk="$debian/packages,ro" \
	--virtio-rng --console="$dir/con" --append="console=ttyS0 root=/dev/vda loglevel=3$append" \
	"${args[@]}" "$kernel/vmlinuz" >"$dir/json" 2>"$dir/err"
status=$?
# systemd resets the terminal: CSI and OSC sequences can precede a line of the session.
tr -d '\r' <"$dir/con" | sed -E 's/\x1b(\[[0-9;?!]*[A-Za-z]|\][^\a\x1b]*\a?)//g' >"$dir/txt"
cp "$dir/txt" "$ledger-${row// /-}.console"
# figure NAME: a number of the run
figure() { jq -r "$1" "$dir/json"; }
figures="$(figure .retired) instructions, $(figure .seconds) s"
[ "$how" != traced ] || figures+=", $(figure .trace_bytes) bytes of trace, $(figure .verify.retired) retired, \
$(figure .verify.decoded) decoded, $(figure .verify.mismatches) mismatches"

tap_run "$row: it boots and powers off: $figures" test "$status" -eq 0
[ "$status" -eq 0 ] || { cat "$dir/err" && tail -n 30 "$dir/txt"; } | sed 's/^/# /'
tap_run "it reaches multi-user with all processors" grep -qE "^debian: .* with $cpus processors" "$dir/txt"
[ -z "$own" ] || tap_run "its kernel is our own" grep -qF " $(cat "$kernel/release") with " "$dir/txt"
tap_empty "no unit failed" "$(grep "^debian: failed" "$dir/txt")"
tap_run "a package of a disk is installed" grep -qx "debian: hello says Hello, world!" "$dir/txt"
tap_run "a program is compiled and runs" grep -qx "debian: compiled 42" "$dir/txt"
tap_run "the session reaches its end" grep -qx "debian: end" "$dir/txt"
tap_empty "no complaint but those of the lists" "$(sed -n 's/^complaint //p' "$dir/txt" |
	while read -r line; do
		cut -f 2 "${lists[@]}" | grep -qxF "$line" || echo "$line"
	done)"
tap_run "the image is as it was" test "$before" = "$(md5sum <"$debian/image")"
[ "$how" != reboot ] || tap_run "it has rebooted" grep -qx "debian: first boot" "$dir/txt"
[ "$how" != traced ] || tap_run "what is decoded is what ran" test "$(figure .verify.mismatches)" = 0 -a \
	"$(figure .verify.retired)" = "$(figure .verify.decoded)" -a "$(figure .verify.retired)" -gt 1000000000
[ "$tap_failed" -ne 0 ] || ledger_note "$row" "$figures"
tap_end
