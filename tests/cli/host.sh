#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the machine may lack: KVM, room on the disk, the right to write.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
elf=$GUEST/calls.elf

# A mount namespace of our own, in which /dev/kvm is something else.
new="unshare --mount"
[ "$(id -u)" -eq 0 ] || new="unshare --user --map-root-user --mount"
if $new true 2>/dev/null; then
	refuses_as "no /dev/kvm" "$HOST" "/dev/kvm" run $new sh -c \
		'mount -t tmpfs none /dev && exec "$@"' sh "$VPT" run --engine=kvm "$elf"
	refuses_as "a /dev/kvm that is something else" "$HOST" "/dev/kvm|KVM" run $new sh -c \
		'mount -t tmpfs none /dev && : >/dev/kvm && exec "$@"' sh "$VPT" run --engine=kvm "$elf"
else
	tap_skip "no /dev/kvm" "no mount namespace may be made here"
	tap_skip "a /dev/kvm that is something else" "no mount namespace may be made here"
fi
# Root may open anything: give that up.
if [ "$(id -u)" -eq 0 ]; then
	mkdir "$dir/open"
	cp "$VPT" "$elf" "$dir/open/"
	chmod -R a+rX "$dir"
	chmod 755 "$dir"
	if [ -e /dev/kvm ] && [ "$(stat -c %a /dev/kvm)" != 666 ]; then
		refuses_as "a /dev/kvm that may not be opened" "$HOST" "/dev/kvm.*(ermission|root|group)" \
			run setpriv --reuid 65534 --clear-groups "$dir/open/vpt" run --engine=kvm "$dir/open/calls.elf"
	fi
fi

refuses "a full disk" "$HOST" "No space" run -q -o /dev/full "$elf"
refuses "no such folder" "$HOST" "No such file" run -q -o "$dir/none/t.vpt" "$elf"
refuses "a folder instead of a file" "$HOST" "directory" run -q -o "$dir" "$elf"
if $new true 2>/dev/null; then
	mkdir "$dir/small"
	# What is there when the disk fills up can still be read.
	$new sh -c 'mount -t tmpfs -o size=256k none "$0/small" && shift 0 &&
		{ "$@" 2>"$0/said"; echo $? >"$0/status"; cp "$0/small/t.vpt.part" "$0/t.vpt"; }' \
		"$dir" "$VPT" run -q --pt host --oracle -o "$dir/small/t.vpt" "$GUEST/demo.elf" >/dev/null
	tap_run "a disk that fills up: status" test "$(cat "$dir/status")" -eq "$HOST"
	tap_run "a disk that fills up: one line" test "$(grep -c '^vpt run: .*No space' "$dir/said")/$(
		wc -l <"$dir/said")" = 1/1
	for verb in info decode; do
		refuses "a disk that fills up: $verb shows what was written" "$INPUT" \
			"without an END|cut off" $verb "$dir/t.vpt"
	done
	tap_run "a disk that fills up: what ran is in it" sh -c \
		"'$VPT' info --json '$dir/t.vpt' 2>/dev/null | grep -q '\"oracle\":[1-9]'"
else
	tap_skip "a disk that fills up" "no mount namespace may be made here"
fi
tap_end
