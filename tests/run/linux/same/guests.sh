# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The guests of same.sh. Source it after tests/lib/cli.sh.
. tests/run/linux/initrd.sh

linux=$(patches/tools/guest) || exit 1
generic=$(patches/tools/kernel generic) || exit 1

mkdir -p "$dir/own/mod" "$dir/own/mnt"
cp "$generic"/*.ko "$dir/own/mod"
linux_initrd

# with COMMAND NAME KERNEL WHAT OPTION...: boot a kernel with a command of vpt, traced from outside. The trace, the
# console, errors and the summary go to NAME.vpt, .con, .err and .json. WHAT is for the first program.
with() {
	"$1" run -q -j --engine=soft --no-reboot --timeout=3000 --mem=512M --initrd="$dir/initrd" --pt=host \
		-o "$dir/$2.vpt" --console="$dir/$2.con" \
		--append="console=ttyS0 loglevel=0 panic=-1 rdinit=/vpt-init $4" "${@:5}" "$3/vmlinuz" \
		>"$dir/$2.json" 2>"$dir/$2.err" || { cat "$dir/$2.err" && return 1; }
}

# boot COMMAND NAME WHAT OPTION...: the cloud kernel.
boot() {
	with "$1" "$2" "$linux" "${@:3}"
}

# replay COMMAND NAME FROM OPTION...
replay() {
	"$1" replay -q -o "$dir/$2.vpt" --console="$dir/$2.con" "${@:4}" "$dir/$3.vpt" \
		</dev/null 2>"$dir/$2.err" || { cat "$dir/$2.err" && return 1; }
}

# restore NAME SNAPSHOT OPTION...
restore() {
	"$VPT" restore -q --timeout=3000 -o "$dir/$1.vpt" --console="$dir/$1.con" "${@:3}" "$dir/$2.vps" \
		2>"$dir/$1.err" || { cat "$dir/$1.err" && return 1; }
}

# Commands for a shell with four vCPUs: a CPU goes offline and online again, and all of them compress.
cat >"$dir/busy" <<'X'
echo cpus=$(grep -c ^processor /proc/cpuinfo)
cd /sys/devices/system/cpu; [ ! -e cpu2/online ] || { echo 0 >cpu2/online; echo 1 >cpu2/online; }
for i in 1 2 3 4; do (head -c 300000 /bin/busybox | gzip | md5sum >/tmp/$i) & done; wait
echo sums=$(cat /tmp/? | sort -u | wc -l)
poweroff -f
X
