#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The options --share and --virtio-console: what they refuse, and a run that has them. What a guest
# sees of a folder is the subject of test_p9 and of make check-linux.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
elf=$GUEST/demo.elf
mkdir "$dir/folder"
echo content >"$dir/folder/file"
name=$(printf '%033d' 0)

refuses "no folder" "$USAGE" "not the name of a folder" run -q --share= "$elf"
refuses "another word" "$USAGE" "not DIR\[,tag=NAME\]\[,rw\]" run -q --share="$dir/folder,ro" "$elf"
refuses "no tag" "$USAGE" "a NAME of 1 to 32 bytes" run -q --share="$dir/folder,tag=" "$elf"
refuses "a long tag" "$USAGE" "a NAME of 1 to 32 bytes" run -q --share="$dir/folder,tag=$name" "$elf"
refuses "a folder that does not exist" "$INPUT" "No such file" run -q --share="$dir/none" "$elf"
refuses "a file" "$INPUT" "Not a directory" run -q --share="$dir/folder/file" "$elf"
refuses "a snapshot" "$USAGE" "--snapshot: not with --share" run -q --engine=soft --share="$dir/folder" \
	--snapshot="$dir/s.vps" "$elf"
refuses "an option of usages" "$USAGE" "not with --usage" run -q --engine=soft --share="$dir/folder" \
	--usage=system -o "$dir/u.vpt" "$elf"

tap_run "a run with both devices" "$VPT" run -q --engine=soft --pt=host --virtio-console \
	--share="$dir/folder,tag=$(printf '%032d' 0),rw" --console="$dir/con" -o "$dir/a.vpt" "$elf"
tap_run "--sandbox=on" "$VPT" run -q --sandbox=on --engine=soft --pt=host --virtio-console \
	--share="$dir/folder,tag=$(printf '%032d' 0),rw" --console="$dir/con" -o "$dir/b.vpt" "$elf"
rm -r "$dir/folder"
tap_run "a replay without the folder" "$VPT" replay -q --console="$dir/con2" -o "$dir/c.vpt" "$dir/a.vpt"
tap_run "the same file" cmp "$dir/a.vpt" "$dir/c.vpt"
tap_run "the same console" cmp "$dir/con" "$dir/con2"
tap_end
