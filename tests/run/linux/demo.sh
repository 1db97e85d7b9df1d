#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The Linux of make demo: all that the demo shows, and that the names of the kernel's functions are
# at their places.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh

linux=$(patches/tools/demo) || exit 1
O=${O:-build/${MODE:-rel}} .ci/demo-boot "$dir/demo" >"$dir/out" 2>"$dir/err"
tap_run "the demo ends with status 0" test $? -eq 0
tap_empty "it reports no failure" "$(grep "^demo: " "$dir/err")"
tap_run "all instructions are what ran" grep -qx \
	'verify: \([0-9]\{10,\}\) retired, \1 decoded, 0 mismatches' "$dir/out"
tap_run "perf in the guest decodes without an error" \
	grep -qx 'perf: [1-9][0-9]* instructions, 0 errors' "$dir/out"
tap_run "perf names the functions of the program" grep -q ' main => .* read_version$' "$dir/out"

# What the document shows is what the demo prints here, but for counts: those are of the version of
# the kernel and of the compiler.
sed -n '/^show_version, pid .* insns$/,/build_open_flags/p' docs/linux.md | sed -n 's/^ .*x  \(.*\)  (.*/\1/p' >"$dir/shown"
tap_run "docs/linux.md shows a tree" test "$(grep -c . "$dir/shown")" -ge 8
sed -n 's/^ .*x  \(.*\)  (.*/\1/p' "$dir/demo/calls.txt" | head -n "$(grep -c . "$dir/shown")" >"$dir/names"
tap_run "its functions are those of the demo" cmp "$dir/shown" "$dir/names"

# A name of each layer, each deeper in the tree of the system call.
depth=0
for name in read_version __libc_open do_syscall_64 __x64_sys_openat do_sys_openat2 do_filp_open; do
	line=$(grep -m 1 "x  $name  (" "$dir/demo/calls.txt")
	now=$(echo "$line" | sed 's/[^ ].*//' | wc -c)
	tap_run "the call tree has $name, deeper" test -n "$line" -a "$now" -gt "$depth"
	depth=$now
done
tap_run "SYSCALL calls the kernel's entry" \
	sh -c "grep -A 1 -m 1 'x  __libc_open  ' '$dir/demo/calls.txt' | grep -q '  1x  entry_SYSCALL_64  '"
tap_run "the picture has the function" grep -q '>do_sys_openat2<' "$dir/demo/calls.svg"

# The addresses are those of this boot: SWAPGS is the first instruction of the entry.
entry=$(sed -n 's/^\([0-9a-f]*\) T entry_SYSCALL_64\r*$/\1/p' "$dir/demo/kallsyms")
tap_run "the guest printed the entry's address" test -n "$entry"
"$VPT" run -q --engine=soft --pt=host --filter=entry_SYSCALL_64 \
	--symbols="$dir/demo/kallsyms" --mem=512M --no-reboot \
	--initrd="$linux/initrd" --console="$dir/filter.con" -o "$dir/filter.vpt" \
	--append="console=ttyS0 loglevel=0 panic=-1 rdinit=/demo/init" "$linux/vmlinuz"
tap_run "a boot with a filter of the entry ends" test $? -eq 0
tap_run "it printed the same" cmp "$dir/demo/boot.con" "$dir/filter.con"
"$VPT" decode -i --symbols="$dir/demo/kallsyms" "$dir/filter.vpt" >"$dir/insns"
tap_run "the entry has its name and its first instruction" \
	grep -qE "^$entry  entry_SYSCALL_64 +swapgs" "$dir/insns"
# A filter takes effect at branches, so the trace continues to the next one.
tap_empty "and no other function was traced" \
	"$(grep -v "^--" "$dir/insns" | grep -v "^[0-9a-f]*  entry_SYSCALL_64" | head -n 5)"
tap_end
