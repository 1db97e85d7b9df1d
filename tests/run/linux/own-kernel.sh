#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel of one's own, without modules and with full preemption, as bzImage and as vmlinux: names and
# source lines of its vmlinux and System.map, the devices of the machine, and perf with Intel PT.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/run/linux/initrd.sh
. tests/lib/ledger.sh

kernel=$(patches/tools/own-kernel) || exit 1
linux=$(patches/tools/guest) || exit 1
ledger_open debian "$kernel $linux" tests/lib/*.sh tests/run/linux/{own-kernel.sh,init,initrd.sh}
passed=$(ledger_find own-kernel)
if [ -n "$passed" ]; then
	tap_ok "passed before: $passed"
	tap_end
fi
mkdir -p "$dir/own/mnt"
linux_initrd

# boot NAME KERNEL WHAT ARG...: run it; the console goes to NAME.con. Sets $status.
boot() {
	"$VPT" run -q --engine=soft --no-reboot --timeout=900 --mem=512M --initrd="$dir/initrd" \
		--append="console=ttyS0 loglevel=0 panic=-1 rdinit=/vpt-init $3" --console="$dir/$1.con" \
		"${@:4}" "$kernel/$2" 2>"$dir/$1.err"
	status=$?
	tr -d '\r' <"$dir/$1.con" >"$dir/$1.txt"
}
# address NAME: of a function, by System.map
address() { awk -v name="$1" '$3 == name { print $1 }' "$kernel/System.map"; }

for option in 'CONFIG_PREEMPT=y' 'CONFIG_RANDOMIZE_BASE=y' '# CONFIG_MODULES is not set'; do
	tap_run "the kernel has $option" grep -qx "$option" "$kernel/config"
done
boot elf vmlinux boot --pt=host --verify
tap_run "vmlinux boots and powers off" test "$status" -eq 0
tap_run "it is this kernel" grep -qx "init: $(cat "$kernel/release")" "$dir/elf.txt"
tap_run "what is decoded is what ran" grep -q " retired, .* 0 mismatches" "$dir/elf.err"

# The names: an address of System.map is that of the function if KASLR is off.
boot whole vmlinuz "nokaslr boot" --pt=host -o "$dir/whole.vpt"
tap_run "bzImage boots and powers off" test "$status" -eq 0
for names in vmlinux System.map; do
	"$VPT" decode --calls --function=do_sys_openat2 --spaces --pti --symbols="$kernel/$names" \
		"$dir/whole.vpt" >"$dir/$names.calls"
	depth=0
	for name in do_sys_openat2 do_filp_open path_openat; do
		line=$(grep -m 1 "x  $name  (" "$dir/$names.calls")
		now=$(echo "$line" | sed 's/[^ ].*//' | wc -c)
		tap_run "$names: the call tree has $name, deeper" test -n "$line" -a "$now" -gt "$depth"
		depth=$now
	done
	boot "$names" vmlinuz "nokaslr boot" --pt=host --filter=do_sys_openat2 --symbols="$kernel/$names" \
		-o "$dir/$names.vpt"
	tap_run "$names: a filter by name: the guest powers off" test "$status" -eq 0
	"$VPT" dump "$dir/$names.vpt" >"$dir/$names.dump"
done
rm -f "$dir/whole.vpt"
tap_run "the filters by both are the same" cmp "$dir/vmlinux.dump" "$dir/System.map.dump"
boot guest vmlinux "nokaslr boot" --pt=host --filter=do_sys_openat2 -o "$dir/guest.vpt"
"$VPT" decode -i --symbols="$kernel/vmlinux" "$dir/guest.vpt" >"$dir/guest.insns"
tap_run "a vmlinux has the names itself" grep -q "^$(address do_sys_openat2)  do_sys_openat2 " "$dir/guest.insns"
"$VPT" decode -i --lines --symbols="$kernel/vmlinux" "$dir/vmlinux.vpt" >"$dir/lines"
tap_run "source lines" grep -q "fs/open\.c:[1-9]" "$dir/lines"
tap_empty "all of them of one function" "$(grep "^ffff" "$dir/lines" | grep -v "^[0-9a-f]*  do_sys_openat2[ +]" | head -n 3)"
"$VPT" decode --coverage --symbols="$kernel/vmlinux" "$dir/vmlinux.vpt" >"$dir/info"
tap_run "coverage by source line" grep -q "^SF:.*fs/open\.c$" "$dir/info"
tap_run "of the function" grep -q "^FNDA:[1-9][0-9]*,do_sys_openat2$" "$dir/info"

# KASLR moves all names by one number.
printf 'grep " _text$" /proc/kallsyms\npoweroff -f\n' >"$dir/commands"
boot kaslr vmlinuz shell --pt=host --input="$dir/commands" -o "$dir/kaslr.vpt"
text=$(awk '$3 == "_text" { print $1 }' "$dir/kaslr.txt")
bias=$((0x${text:-0} - 0x$(address _text)))
tap_run "KASLR moves the kernel" test -n "$text" -a "$bias" -gt 0
"$VPT" decode --calls --function=do_sys_openat2 --spaces --pti --symbols="$kernel/vmlinux@$bias" \
	"$dir/kaslr.vpt" >"$dir/kaslr.calls" 2>&1
tap_run "its names with a bias" grep -q "x  do_filp_open  (" "$dir/kaslr.calls"
rm -f "$dir/kaslr.vpt"

# All drivers are built in.
mkdir "$dir/folder"
echo shared >"$dir/folder/file"
head -c 65536 /dev/zero >"$dir/disk"
cat >"$dir/commands" <<-'END'
	mount -t 9p -o trans=virtio,version=9p2000.L folder /mnt && echo 9p=$(cat /mnt/file)
	echo disk=$(cat /sys/block/vda/size) rng=$(cat /sys/class/misc/hw_random/rng_current)
	echo net=$(cat /sys/class/net/eth0/address)
	echo pt=$(cat /sys/bus/event_source/devices/intel_pt/type)
	echo online=$(cat /sys/devices/system/cpu/online)
	poweroff -f
END
boot devices vmlinuz shell --pt=guest --cpus=4 --input="$dir/commands" --share="$dir/folder,tag=folder" \
	--disk="$dir/disk" --virtio-rng --net=user,restrict
tap_run "a guest with all devices powers off" test "$status" -eq 0
for said in 9p=shared 'disk=128 rng=virtio_rng.0' 'net=..:..:..:..:..:..' 'pt=[1-9][0-9]*' online=0-3; do
	tap_run "$said" grep -q "^$said" "$dir/devices.txt"
done

boot perf vmlinuz perf --pt=guest --oracle-blocks -o "$dir/perf.vpt"
tap_run "perf in Linux: the guest ends" test "$status" -eq 0
tap_run "perf in Linux: what was traced is what ran" "$VPT" verify -q "$dir/perf.vpt"
tap_run "perf in Linux: perf decodes each instruction" grep -qa \
	"^perf: $("$VPT" info -j "$dir/perf.vpt" | jq '[.vcpus[].sessions[].insns] | add') instructions" "$dir/perf.con"
tap_run "perf in Linux: without an error" grep -qa "^perf: 0 errors" "$dir/perf.con"
[ "$tap_failed" -ne 0 ] || ledger_note own-kernel "$tap_count tests"
tap_end
