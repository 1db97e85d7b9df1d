#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The options --disk and --virtio-rng: what they refuse, and a run that has them. What a guest sees of
# a disk is the subject of test_disk, test_virtio and of make check-linux.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
elf=$GUEST/demo.elf
image=$dir/image
head -c 1048576 /dev/zero >"$image"
cp "$image" "$dir/same"
ends="not FILE\[,ro|,rw\]"

refuses "no name" "$USAGE" "not the name of a file" run -q --disk= "$elf"
refuses "another word" "$USAGE" "$ends" run -q --disk="$image,wr" "$elf"
refuses "a long word" "$USAGE" "$ends" run -q --disk="$image,$(printf '%064d' 0)" "$elf"
refuses "another format" "$USAGE" "$ends" run -q --disk="$image,format=vmdk" "$elf"
refuses "a size that is none" "$USAGE" "x1" run -q --disk="$image,overlay=x1" "$elf"
refuses "an empty overlay" "$USAGE" "at least one byte" run -q --disk="$image,overlay=0" "$elf"
refuses "no file" "$INPUT" "none: No such file" run -q --disk="$dir/none" "$elf"
refuses "a folder" "$INPUT" "not a regular file" run -q --disk="$dir" "$elf"
mkfifo "$dir/pipe"
refuses "a pipe" "$INPUT" "not a regular file" run -q --disk="$dir/pipe" "$elf"
refuses "not a qcow2" "$INPUT" "$image: " run -q --disk="$image,format=qcow2" "$elf"
printf 'QFI\373\0\0\0\3' >"$dir/short.qcow2"
refuses "a part of a qcow2" "$INPUT" "short.qcow2: " run -q --disk="$dir/short.qcow2" "$elf"
refuses "nine disks" "$USAGE" "more than 8 disks" run -q --disk="$image" --disk="$image" \
	--disk="$image" --disk="$image" --disk="$image" --disk="$image" --disk="$image" --disk="$image" \
	--disk="$image" "$elf"
refuses "a disk twice, to write" "$INPUT" "another process uses it" run -q --disk="$image,rw" \
	--disk="$image,rw" "$elf"
refuses "a snapshot with an image that changes" "$USAGE" "because the image would change" run -q \
	--engine=soft --disk="$image,rw" --snapshot="$dir/s.vps" "$elf"
refuses "an option of usages" "$USAGE" "not with --usage" run -q --engine=soft --disk="$image" \
	--usage=system -o "$dir/u.vpt" "$elf"

: >"$dir/input"
tap_run "a run with disks" "$VPT" run -q --engine=soft --pt=host --virtio-rng --input="$dir/input" \
	--disk="$image,overlay=1M" --disk="$image,ro,format=raw" --console="$dir/con" -o "$dir/a.vpt" "$elf"
tap_run "--sandbox=on" "$VPT" run -q --sandbox=on --engine=soft --pt=host --virtio-rng \
	--disk="$image" --console="$dir/con" -o "$dir/b.vpt" "$elf"
tap_run "the image is as it was" cmp "$image" "$dir/same"
"$VPT" info "$dir/a.vpt" >"$dir/info"
tap_run "vpt info names the image" grep -q "$image" "$dir/info"
tap_run "a replay" "$VPT" replay -q --console="$dir/con2" -o "$dir/c.vpt" "$dir/a.vpt"
tap_run "the same file" cmp "$dir/a.vpt" "$dir/c.vpt"
set -- --engine=soft --pt=host --virtio-rng --virtio-console --disk="$image,overlay=1M" --console=none
tap_run "a whole run" "$VPT" run -q "$@" -o "$dir/d.vpt" "$elf"
tap_run "the same until a snapshot" "$VPT" run -q "$@" --snapshot="$dir/s.vps" --snapshot-at=20000 \
	-o "$dir/e.vpt" "$elf"
tap_run "resumed" "$VPT" restore -q --console=none -o "$dir/f.vpt" "$dir/s.vps"
tap_run "the file of the whole run" cmp "$dir/d.vpt" "$dir/f.vpt"
mv "$image" "$dir/away"
refuses "a snapshot without its image" "$INPUT" "image: No such file" restore -q --console=none "$dir/s.vps"
mv "$dir/away" "$image"
touch -d 2001-01-01 "$image"
refuses "a snapshot with a changed image" "$INPUT" "the image was modified after the snapshot" restore -q \
	--console=none "$dir/s.vps"
refuses "a replay with a changed image" "$INPUT" "not the disk of the recording" replay -q \
	--console=none "$dir/a.vpt"
tap_run "a run that writes to the image" "$VPT" run -q --engine=soft --pt=host --input="$dir/input" \
	--disk="$image,rw" --console=none -o "$dir/w.vpt" "$elf"
refuses "no replay of it" "$INPUT" "cannot be repeated" replay -q --console=none "$dir/w.vpt"
tap_end
