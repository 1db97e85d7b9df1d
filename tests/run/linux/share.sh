#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's generic kernel mounts a shared folder, reads it, runs a program from it, and gets a line of
# input on a virtio console. The run is the same without the host's times and orders, and its replay
# needs no folder. With rw the guest changes the folder, and nothing beside it.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/run/linux/initrd.sh

linux=$(patches/tools/guest) || exit 1
generic=$(patches/tools/kernel generic) || exit 1
mkdir -p "$dir/own/9p" "$dir/own/mnt"
cp "$generic"/*.ko "$dir/own/9p"
linux_initrd

# make_folder DIR NAME...: the same files, made in the order of the names.
make_folder() {
	mkdir -p "$1/dir"
	for file in "${@:2}"; do
		case $file in
		big) seq 1 300000 >"$1/big" ;;
		small) echo a small file >"$1/small" ;;
		echo) cp /bin/busybox "$1/echo" ;;
		deep) echo deep >"$1/dir/deep" ;;
		out) ln -s ../secret "$1/out" ;;
		to-small) ln -s small "$1/to-small" ;;
		pipe) mkfifo "$1/pipe" ;;
		esac
	done
}
echo secret >"$dir/secret"
make_folder "$dir/folder" big small echo deep out to-small pipe
make_folder "$dir/other" pipe to-small out deep echo small big
touch -d 2001-01-01 "$dir"/other/*
echo typed >"$dir/line"

# boot NAME FOLDER ARG...: run it; the console goes to NAME.con. Sets $status.
boot() {
	"$VPT" run -q --engine=soft --no-reboot --timeout=400 --mem=512M --initrd="$dir/initrd" \
		--share="$dir/$2,tag=folder" --virtio-console --input="$dir/line" \
		--console="$dir/$1.con" --append="console=ttyS0 loglevel=0 panic=-1 rdinit=/vpt-init share" \
		"${@:3}" "$generic/vmlinuz" 2>"$dir/$1.err"
	status=$?
	tr -d '\r' <"$dir/$1.con" >"$dir/$1.txt"
}

boot first folder --pt=host -o "$dir/first.vpt"
tap_run "Linux boots with a folder and powers off" test "$status" -eq 0
tap_empty "all modules are there, and the folder is mounted" "$(grep "^share:" "$dir/first.txt")"
tap_run "the names are those of the folder, sorted, without the pipe" test \
	"$(sed -n 's/^found //p' "$dir/first.txt" | tr '\n' ' ')" = \
	". ./big ./dir ./dir/deep ./echo ./out ./small ./to-small "
tap_run "the contents are those of the folder" test \
	"$(sed -n 's/^sum //p' "$dir/first.txt")" = "$(cd "$dir/folder" && md5sum big small dir/deep)"
printf '%s\n' "stat small -rw-r--r-- 13 0 root" \
	"stat echo -rwxr-xr-x $(stat -L -c %s /bin/busybox) 0 root" "stat dir drwxr-xr-x 4096 0 root" >"$dir/stats"
tap_run "modes, sizes, times and owners" test "$(grep "^stat" "$dir/first.txt")" = "$(cat "$dir/stats")"
tap_run "links have their texts" test \
	"$(sed -n 's/^link //p' "$dir/first.txt" | tr '\n' ' ')" = "../secret small "
tap_run "a link in the folder is followed by the guest" grep -qx "a small file" "$dir/first.txt"
tap_run "a link out of the folder leads nowhere" grep -q "can't open 'out'" "$dir/first.txt"
tap_empty "no file beside the folder is read" "$(grep -x secret "$dir/first.txt")"
tap_run "a program runs from the folder" grep -qx "run from the folder" "$dir/first.txt"
tap_run "the folder is read-only" grep -q "can't create new: Read-only" "$dir/first.txt"
tap_run "the virtio console has input and output" grep -qx "hvc0: typed" "$dir/first.txt"
tap_run "the trace has no error" "$VPT" decode -q "$dir/first.vpt"
tap_run "each reply is in the file" test "$("$VPT" info -j "$dir/first.vpt" | jq .inputs)" -ge 100

# The file names the folder, so the other one takes its place.
mv "$dir/folder" "$dir/away"
mv "$dir/other" "$dir/folder"
boot second folder --pt=host -o "$dir/second.vpt"
tap_run "other times and another order of the same files: the same trace" \
	cmp "$dir/first.vpt" "$dir/second.vpt"
tap_run "and the same console" cmp "$dir/first.con" "$dir/second.con"
rm -rf "$dir/second.vpt" "$dir/folder"

"$VPT" replay -q -o "$dir/replayed.vpt" --console="$dir/replayed.con" "$dir/first.vpt" \
	</dev/null 2>"$dir/replayed.err"
tap_run "a replay without the folder writes the same file" cmp "$dir/first.vpt" "$dir/replayed.vpt"
tap_run "and prints the same" cmp "$dir/first.con" "$dir/replayed.con"
rm -f "$dir/first.vpt" "$dir/replayed.vpt"
mv "$dir/away" "$dir/folder"

# The requests of several vCPUs have their places, too.
boot four folder --pt=host --cpus=4 -o "$dir/four.vpt"
tap_run "4 vCPUs: the contents are those of the folder" test \
	"$(sed -n 's/^sum //p' "$dir/four.txt")" = "$(cd "$dir/folder" && md5sum big small dir/deep)"
"$VPT" replay -q -o "$dir/replayed.vpt" --console="$dir/replayed.con" "$dir/four.vpt" \
	</dev/null 2>"$dir/replayed.err"
tap_run "4 vCPUs: the replay writes the same file" cmp "$dir/four.vpt" "$dir/replayed.vpt"
tap_run "4 vCPUs: and prints the same" cmp "$dir/four.con" "$dir/replayed.con"
rm -f "$dir/four.vpt" "$dir/replayed.vpt"

# What the guest executes came by the device: the trace is what ran.
boot live folder --pt=host --verify
tap_run "verified while it runs: status 0" test "$status" -eq 0
tap_run "the instructions are those that ran" grep -q " retired, .* 0 mismatches" "$dir/live.err"

boot writes folder,rw --pt=off
tap_run "rw: the guest changed the folder" grep -qx changed "$dir/writes.txt"
tap_run "a file was made and moved" grep -qx new "$dir/folder/made/moved"
tap_run "a file has more" test "$(cat "$dir/folder/small")" = "$(printf 'a small file\nmore')"
tap_run "a file was removed" test ! -e "$dir/folder/dir/deep"
tap_run "the file beside the folder is as it was" grep -qx secret "$dir/secret"
tap_end
