#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Faults of long runs of Linux: a killed run, a full disk for the trace and for a snapshot, an image
# that is truncated while the guest uses it, and a killed verifier. Each test first makes sure that the
# fault came in the middle of the run.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/run/linux/initrd.sh

linux=$(patches/tools/guest) || exit 1
generic=$(patches/tools/kernel generic) || exit 1
mkdir -p "$dir/own/9p" "$dir/small"
cp "$generic"/*.ko "$dir/own/9p"
linux_initrd

# A mount namespace of our own, in which $dir/small is an empty disk of a given size.
new="unshare --mount"
[ "$(id -u)" -eq 0 ] || new="unshare --user --map-root-user --mount"

# on_small BYTES FUNCTION
on_small() {
	declare -p VPT dir linux boot >"$dir/functions"
	declare -f snapshot fills no_room no_room_later >>"$dir/functions"
	# shellcheck disable=SC2016 # the inner shell expands
	$new bash -c 'mount -t tmpfs -o size="$0" none "$1/small" && . "$1/functions" && $2' "$1" "$dir" "$2"
}

boot=("$VPT" run -q --engine=soft --no-reboot --timeout=400 --mem=512M "--initrd=$dir/initrd")
append="console=ttyS0 loglevel=0 panic=-1 rdinit=/vpt-init"
boot+=("--append=$append boot" --console=none "$linux/vmlinuz")

size() {
	stat -c %s "$1" 2>/dev/null || echo 0
}

# kill_at FILE BYTES COMMAND...: kill the command when its file has so many bytes. Sets $status.
kill_at() {
	"${@:3}" 2>/dev/null &
	run=$!
	for _ in $(seq 3000); do
		[ "$(size "$1")" -lt "$2" ] || break
		sleep 0.02
	done
	kill -KILL $run
	wait $run 2>/dev/null
	status=$?
}

# is_start FILE: the file has the first bytes of the whole trace, and at least 12 MB of them.
is_start() {
	echo "$(size "$1") of $(size "$dir/whole.vpt") bytes"
	[ "$(size "$1")" -ge 12000000 ] && [ "$(size "$1")" -lt "$(size "$dir/whole.vpt")" ] &&
		cmp -n "$(size "$1")" "$1" "$dir/whole.vpt"
}

# decodes FILE: its first million instructions are those of the whole trace.
decodes() {
	"$VPT" decode -i "$1" 2>/dev/null | grep -av '^--' | head -n 1000000 >"$dir/lines"
	echo "$(wc -l <"$dir/lines") instructions"
	"$VPT" decode -i "$dir/whole.vpt" 2>/dev/null | grep -av '^--' | head -n 1000000 | cmp - "$dir/lines" &&
		[ "$(wc -l <"$dir/lines")" -eq 1000000 ]
}

# one_line FILE WORDS: the file's only line has the words.
one_line() {
	cat "$1"
	[ "$(wc -l <"$1")" -eq 1 ] && grep -q "^vpt run: .*$2" "$1"
}

"${boot[@]}" --pt=host -o "$dir/whole.vpt" 2>"$dir/err"
tap_run "the boot ends" test $? -eq 0

# The run is killed.
kill_at "$dir/killed.vpt.part" 12000000 "${boot[@]}" --pt=host -o "$dir/killed.vpt"
tap_run "kill: in the middle of the run" test $status -eq 137
tap_run "kill: the file is the start of the whole trace" is_start "$dir/killed.vpt.part"
refuses "kill: the cut is reported, and no other error" "$INPUT" "cut: .*(cut off|without an END)" \
	decode -q "$dir/killed.vpt.part"
tap_run "kill: its first million instructions are those of the run" decodes "$dir/killed.vpt.part"
kill_at "$dir/blocks.vpt.part" 100000000 "${boot[@]}" --pt=host --oracle-blocks -o "$dir/blocks.vpt"
tap_run "kill: in the middle of a run with a log of blocks" test $status -eq 137
verified=$("$VPT" verify "$dir/blocks.vpt.part" 2>"$dir/said" | sed -n 's/^verify: [0-9]* retired, \([0-9]*\) decoded, 0 mismatches$/\1/p')
tap_run "kill: up to the cut, the trace is what ran" test "${verified:-0}" -gt 50000000
echo "# kill: $(size "$dir/killed.vpt.part") of $(size "$dir/whole.vpt") bytes, and $verified instructions compared"
rm -f "$dir/killed.vpt.part" "$dir/blocks.vpt.part"

# The disk is full.
fills() {
	"${boot[@]}" --pt=host -o "$dir/small/t.vpt" 2>"$dir/said"
	echo $? >"$dir/status"
	cp "$dir/small/t.vpt.part" "$dir/full.vpt"
}
# A disk with room for one snapshot: the second one does not fit.
snapshot() { # DIR INSNS
	"${boot[@]}" --pt=off --snapshot="$1/s.vps" --snapshot-at="$2"
}
no_room() {
	snapshot "$dir/small" 300000000 2>"$dir/first.said"
	echo $? >"$dir/first.status"
	cp "$dir/small/s.vps" "$dir/older.vps"
	snapshot "$dir/small" 900000000 2>"$dir/said"
	echo $? >"$dir/status"
	cp "$dir/small/s.vps" "$dir/kept.vps"
}
# A traced run whose second snapshot does not fit. The trace is on another disk.
no_room_later() {
	"${boot[@]}" --pt=host -o "$dir/traced.vpt" --snapshot="$dir/small/s.vps" --snapshot-every=450000000 \
		2>"$dir/said"
	echo $? >"$dir/status"
	ls -A "$dir/small" >"$dir/list"
	cp "$dir/small/s.vps" "$dir/kept.vps"
}
if $new true 2>/dev/null; then
	on_small 16m fills
	tap_run "full disk: status" test "$(cat "$dir/status")" -eq "$HOST"
	tap_run "full disk: one line" one_line "$dir/said" "No space left on device"
	tap_run "full disk: the file is the start of the whole trace" is_start "$dir/full.vpt"
	refuses "full disk: the cut is reported, and no other error" "$INPUT" "cut: .*(cut off|without an END)" \
		decode -q "$dir/full.vpt"
	tap_run "full disk: its first million instructions are those of the run" decodes "$dir/full.vpt"
	echo "# full disk: $(size "$dir/full.vpt") bytes"
	rm -f "$dir/full.vpt"

	snapshot "$dir" 300000000
	on_small $(($(size "$dir/s.vps") * 3 / 2)) no_room
	tap_run "full disk: the first snapshot fits" test "$(cat "$dir/first.status")" -eq 0
	tap_run "full disk: the second snapshot does not" test "$(cat "$dir/status")" -eq "$HOST"
	tap_run "full disk: that is one line" one_line "$dir/said" "--snapshot=.*No space left on device"
	tap_run "full disk: the older snapshot stays" cmp "$dir/older.vps" "$dir/kept.vps"
	tap_run "full disk: the older snapshot resumes" "$VPT" restore -q --console=none "$dir/kept.vps"
	rm -f "$dir"/*.vps

	snapshot "$dir" 450000000
	on_small $(($(size "$dir/s.vps") * 3 / 2)) no_room_later
	tap_run "full disk, traced: the second snapshot does not fit" test "$(cat "$dir/status")" -eq "$HOST"
	tap_run "full disk, traced: that is one line" one_line "$dir/said" "--snapshot=.*No space left on device"
	tap_run "full disk, traced: no part of it is left" test "$(cat "$dir/list")" = s.vps
	tap_run "full disk, traced: the trace has no error" "$VPT" decode -q "$dir/traced.vpt.part"
	insns=$("$VPT" info -j "$dir/traced.vpt.part" | jq '.vcpus[0].sessions[0].insns')
	tap_run "full disk, traced: it goes to the place of the snapshot" test "$insns" -gt 890000000 -a "$insns" -le 900000000
	tap_run "full disk, traced: the first snapshot resumes to the whole trace" sh -c \
		"'$VPT' restore -q --console=none -o '$dir/traced.vpt' '$dir/kept.vps' && cmp '$dir/traced.vpt' '$dir/whole.vpt'"
	rm -f "$dir"/*.vps "$dir"/traced.*
else
	tap_skip "full disk" "no mount namespace may be made here"
fi
rm -f "$dir/whole.vpt"

# The processes that verify are killed after half a second of its time, which is several parts.
"${boot[@]}" --pt=host --verify=4M 2>"$dir/said" &
run=$!
for _ in $(seq 500); do
	sleep 0.02
	child=$(pgrep -P $run | head -n 1)
	[ -n "$child" ] || continue
	ticks=$(cut -d ' ' -f 14 "/proc/$child/stat" 2>/dev/null)
	[ "${ticks:-0}" -lt 50 ] || break
done
pkill -KILL -P $run
killed=$?
wait $run
status=$?
tap_run "verifier: killed in the middle of the run" test $killed -eq 0
tap_run "verifier: status" test $status -eq "$HOST"
before=$(sed -n 's/^verify: [0-9]* retired, \([0-9]*\) decoded, 0 mismatches$/\1/p' "$dir/said")
tap_run "verifier: some of the boot was compared, and not all" test "${before:-0}" -gt 0 -a "${before:-0}" -lt 1300000000
echo "# verifier: $before instructions before it was killed"
grep -v '^verify: ' "$dir/said" >"$dir/rest"
tap_run "verifier: one line" one_line "$dir/rest" "a process that verifies has ended"

# An image is truncated while the guest uses it. The shell gets its commands by a pipe.
said() { # WORDS: wait until the console has them
	for _ in $(seq 600); do
		! grep -qa "$1" "$dir/disk.con" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}
mkfifo "$dir/pipe"
for way in ro rw; do
	rm -f "$dir/disk.con"
	head -c 4194304 /dev/urandom >"$dir/image"
	exec 3<>"$dir/pipe"
	"$VPT" run -q --engine=soft --no-reboot --timeout=300 --mem=512M --initrd="$dir/initrd" --pt=off \
		--append="$append shell" --console="$dir/disk.con" --input=- --disk="$dir/image,$way" \
		"$generic/vmlinuz" <"$dir/pipe" 2>"$dir/said" &
	run=$!
	# shellcheck disable=SC2016 # the guest's shell expands
	printf '%s\n' 'for m in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk; do insmod /9p/$m.ko; done' \
		'head -c 65536 /dev/vda | md5sum; echo re"ady"' >&3
	tap_run "truncated, $way: the guest reads the image" said "^ready"
	tap_run "truncated, $way: the first bytes" grep -qa "^$(head -c 65536 "$dir/image" | md5sum)" "$dir/disk.con"
	truncate -s 65536 "$dir/image"
	# shellcheck disable=SC2016 # the guest's shell expands
	printf '%s\n' 'head -c 4194304 /dev/vda >/tmp/all; echo size=$(stat -c %s /tmp/all)' \
		'dd if=/dev/vda bs=4096 skip=900 count=1 of=/tmp/page; echo far=$?; poweroff -f' >&3
	wait $run
	status=$?
	exec 3>&-
	tap_run "truncated, $way: the guest powers off" test $status -eq 0
	tap_run "truncated, $way: a read beyond the new end fails" grep -qa "^far=1" "$dir/disk.con"
	tap_run "truncated, $way: the guest has what was read, and less than all" sh -c \
		"tr -d '\r' <'$dir/disk.con' | awk -F= '/^size=[0-9]/ { n = \$2 } END { exit !(n >= 65536 && n < 4194304) }'"
	echo "# truncated, $way: $(tr -d '\r' <"$dir/disk.con" | grep -a "^size=[0-9]") of 4194304"
	tap_run "truncated, $way: one line" one_line "$dir/said" "Input/output error: the guest gets an error"
done
tap_end
