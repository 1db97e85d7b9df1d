#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's cloud kernel on the software CPU: it boots on each model without a complaint that is
# not listed, its trace is what ran and the same each time, also across a snapshot and with commands
# on its console, and perf records Intel PT inside.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/run/linux/initrd.sh

linux=$(patches/tools/guest) || exit 1
mkdir "$dir/own"
cp "$GUEST/vpt-mark" "$dir/own/vpt-mark"
linux_initrd

reboot=--no-reboot
# boot NAME WHAT ARG...: run it; the console goes to NAME.con. Sets $status.
boot() {
	name=$1
	what=$2
	shift 2
	# shellcheck disable=SC2086 # no option or one
	"$VPT" run -q --engine=soft $reboot --mem=512M --initrd="$dir/initrd" --console="$dir/$name.con" \
		--append="console=ttyS0 loglevel=0 panic=-1 rdinit=/vpt-init $what" "$@" \
		"$linux/vmlinuz" 2>"$dir/$name.err"
	status=$?
}

listed() { # MODEL
	awk -F '\t' -v m="$1" '!/^#/ && ($1 == "*" || $1 == m) { print $2 }' tests/run/linux/complaints
}

for model in bdw skl icx spr; do
	boot $model boot --pt=guest --model=$model
	tap_run "$model: Linux boots and powers off" test "$status" -eq 0
	tap_run "$model: init ran" grep -q "^init: 6" "$dir/$model.con"
	tap_run "$model: there is a host bridge" grep -q "^bridge:  36 1b 08 00" "$dir/$model.con"
	tr -d '\r' <"$dir/$model.con" | sed -n 's/^complaint //p' | sort >"$dir/said"
	listed $model | sort >"$dir/may"
	tap_empty "$model: the kernel complains of nothing else" "$(comm -23 "$dir/said" "$dir/may")"
	tap_empty "$model: each listed complaint is still there" "$(comm -13 "$dir/said" "$dir/may")"
done

# The whole boot, traced from outside.
boot whole boot --pt=host -o "$dir/whole.vpt"
tap_run "a traced boot ends" test "$status" -eq 0
# insns FILE: the instructions of its sessions.
insns() {
	"$VPT" info -j "$1" | jq '[.vcpus[].sessions[].insns] | add'
}
tap_run "its trace has no error" "$VPT" decode -q "$dir/whole.vpt"
tap_run "a thousand million instructions at least" test "$(insns "$dir/whole.vpt")" -ge 1000000000

boot part boot --pt=host --oracle --max-insns=20000000 -o "$dir/part.vpt"
tap_run "20,000,000 instructions are what ran" "$VPT" verify -q "$dir/part.vpt"
rm -f "$dir/part.vpt"

# The whole boot is what ran, also where the host has compiled the guest's code.
boot blocks boot --pt=host --oracle-blocks -o "$dir/blocks.vpt"
tap_run "a boot with a log of blocks ends" test "$status" -eq 0
tap_run "all of its instructions are what ran" "$VPT" verify -q "$dir/blocks.vpt"
tap_run "as many as without the log" test "$(insns "$dir/blocks.vpt")" -eq "$(insns "$dir/whole.vpt")"
rm -f "$dir/blocks.vpt"

# The same while it runs, without a file.
boot live boot --pt=host --verify
tap_run "a boot that is verified while it runs: status 0" test "$status" -eq 0
tap_run "all of its instructions are compared" grep -q \
	"^verify: $(insns "$dir/whole.vpt") retired, $(insns "$dir/whole.vpt") decoded, 0 mismatches" \
	"$dir/live.err"

# The same bytes again, and in two parts.
boot again boot --pt=host -o "$dir/again.vpt"
tap_run "a second run writes the same file" cmp "$dir/whole.vpt" "$dir/again.vpt"
boot first boot --pt=host --snapshot="$dir/s.vps" --snapshot-at=700000000 -o "$dir/first.vpt"
tap_run "a snapshot is taken" test "$status" -eq 0 -a -s "$dir/s.vps"
"$VPT" restore -q -o "$dir/rest.vpt" --console="$dir/rest.con" "$dir/s.vps" 2>"$dir/rest.err"
tap_run "the resumed run writes the same file" cmp "$dir/whole.vpt" "$dir/rest.vpt"
# The console has the identity of the host bridge, which init reads after the snapshot.
tap_run "and the same console" sh -c "cat '$dir/first.con' '$dir/rest.con' | cmp - '$dir/whole.con'"

# A shell that gets commands from a pipe, and the replay of the session without the pipe. The guest
# sleeps for two seconds of the host while the pipe is open, and the last command ends it.
session() {
	printf 'cat /proc/uptime; sleep 2; cat /proc/uptime\n'
	sleep 4
	# shellcheck disable=SC2016 # the guest's shell expands
	printf 'echo $((6 * 7)) >/tmp/n; echo n=$(cat /tmp/n)\npoweroff -f\n'
}
boot shell shell --pt=host --input=- -o "$dir/shell.vpt" < <(session)
tap_run "a shell with commands from a pipe powers off" test "$status" -eq 0
tap_run "the commands ran" grep -q "^n=42" "$dir/shell.con"
tap_run "the inputs are in the file" test "$("$VPT" info -j "$dir/shell.vpt" | jq .inputs)" -ge 4
"$VPT" replay -q -o "$dir/replayed.vpt" --console="$dir/replayed.con" "$dir/shell.vpt" \
	</dev/null 2>"$dir/replayed.err"
tap_run "its replay writes the same file" cmp "$dir/shell.vpt" "$dir/replayed.vpt"
tap_run "its replay prints the same" cmp "$dir/shell.con" "$dir/replayed.con"
tap_run "the replay's trace has no error" "$VPT" decode -q "$dir/replayed.vpt"
# The same commands from a file arrive at the same instructions each time.
session >"$dir/commands"
for run in file file2; do
	boot $run shell --pt=host --input="$dir/commands" -o "$dir/$run.vpt"
done
tap_run "commands from a file ran" grep -q "^n=42" "$dir/file.con"
tap_run "a second run with the file is the same" cmp "$dir/file.vpt" "$dir/file2.vpt"
rm -f "$dir/shell.vpt" "$dir/replayed.vpt" "$dir/file.vpt" "$dir/file2.vpt"

# RAM beyond 3 GiB begins at 4 GiB, and Linux uses it first.
cat >"$dir/much" <<-'END'
	grep MemTotal /proc/meminfo; grep 'System RAM' /proc/iomem | tail -n 1
	head -c 20000000 /dev/zero >/tmp/zeros; md5sum /tmp/zeros
	poweroff -f
END
boot high shell --pt=host --verify --mem=5G --input="$dir/much"
tap_run "5 GiB: what was traced is what ran" test "$status" -eq 0
tap_run "5 GiB: the kernel has them" grep -q "^MemTotal: *[45][0-9]\{6\} kB" "$dir/high.con"
tap_run "5 GiB: above 4 GiB" grep -q "^100000000-17fffffff : System RAM" "$dir/high.con"
boot high shell --pt=host --mem=5G --input="$dir/much" -o "$dir/high.vpt"
high=$("$VPT" decode --spaces -j "$dir/high.vpt" | jq '[.spaces[].cr3 | select(length >= 11)] | length')
tap_run "5 GiB: page tables are above 4 GiB" test "${high:-0}" -ge 2
all=$(insns "$dir/high.vpt")
boot part shell --pt=host --mem=5G --input="$dir/much" -o "$dir/part.vpt" --snapshot="$dir/s.vps" \
	--snapshot-at=$((all - 20000000))
"$VPT" restore -q -o "$dir/rest.vpt" --max-mem=5G --input="$dir/much" --console=none "$dir/s.vps" 2>"$dir/rest.err"
tap_run "5 GiB: a run resumed from a snapshot writes the same file" cmp "$dir/high.vpt" "$dir/rest.vpt"
rm -f "$dir/high.vpt" "$dir/part.vpt" "$dir/rest.vpt" "$dir/s.vps"
boot high perf --pt=guest --mem=5G --oracle-blocks -o "$dir/high.vpt"
tap_run "5 GiB: the guest's own trace is what ran" "$VPT" verify -q "$dir/high.vpt"
tap_run "5 GiB: its buffer is above 4 GiB" grep -q "OUTPUT_BASE 0x1[0-9a-f]\{8\} " <("$VPT" info "$dir/high.vpt")
tap_run "5 GiB: perf decodes each instruction" \
	grep -qa "^perf: $(insns "$dir/high.vpt") instructions" "$dir/high.con"
rm -f "$dir/high.vpt"

# A program marks the trace on each vCPU and ends the run. Its replay has the same marks.
cat >"$dir/marking" <<-'END'
	echo mark > /tmp/words; /vpt-mark "first $(cat /tmp/words)"
	for cpu in 0 1 2 3; do taskset $((1 << cpu)) /vpt-mark "on $cpu"; done
	/vpt-mark --exit 3
END
boot marks shell --pt=host --cpus=4 --input="$dir/marking" -o "$dir/marks.vpt"
tap_run "vpt-mark ends the run with a failure" test "$status" -eq 1
"$VPT" info -j "$dir/marks.vpt" >"$dir/marks.json"
tap_run "it marks the trace once" test \
	"$(jq -r '.vcpus[].mark_list[].text' "$dir/marks.json" | grep -c '^first mark$')" -eq 1
tap_run "and the trace of each vCPU" test "$(jq -c \
	'[.vcpus[] | [.mark_list[] | select(.text[:2] == "on") | "\(.vcpu) \(.text)"]]' "$dir/marks.json")" = \
	'[["0 on 0"],["1 on 1"],["2 on 2"],["3 on 3"]]'
"$VPT" replay -q -o "$dir/replayed.vpt" --console=none "$dir/marks.vpt" </dev/null 2>"$dir/replayed.err"
tap_run "its replay writes the same marks" cmp "$dir/marks.vpt" "$dir/replayed.vpt"
rm -f "$dir/marks.vpt" "$dir/replayed.vpt"

# A part of the run: from a mark on, 10 million instructions of both vCPUs.
cat >"$dir/part" <<-'END'
	/vpt-mark go; ls -lR /proc/sys >/dev/null; poweroff -f
END
for run in part part2; do
	boot $run shell --pt=host --cpus=2 --trace-from=mark:go --trace-for=10000000 --input="$dir/part" \
		--oracle-blocks -o "$dir/$run.vpt"
done
tap_run "from a mark: the guest powers off" test "$status" -eq 0
tap_run "from a mark: what is decoded is what ran" "$VPT" verify -q "$dir/part.vpt"
# Instructions that fault count and are not in the trace.
tap_run "from a mark: as many instructions as were asked for" test "$(insns "$dir/part.vpt")" -le 10000000 -a \
	"$(insns "$dir/part.vpt")" -gt 9990000
tap_run "from a mark: the same file again" cmp "$dir/part.vpt" "$dir/part2.vpt"
rm -f "$dir/part.vpt" "$dir/part2.vpt"
cat >"$dir/parts" <<-'END'
	for i in 1 2 3; do /vpt-mark go; ls -lR /proc/sys >/dev/null; done; poweroff -f
END
boot $run shell --pt=host --cpus=2 --trace-from=mark:go --trace-for=1000000 --trace-again --input="$dir/parts" \
	--oracle-blocks -o "$dir/parts.vpt"
tap_run "from each mark: what is decoded is what ran" "$VPT" verify -q "$dir/parts.vpt"
tap_run "from each mark: three parts" test "$(insns "$dir/parts.vpt")" -le 3000000 -a \
	"$(insns "$dir/parts.vpt")" -gt 2990000
rm -f "$dir/parts.vpt"

# The monitor types a command, and traces one function of the kernel on both vCPUs while it runs.
ask() {
	timeout 60 "$VPT" monitor "$dir/sock" "$@" >/dev/null
}
# shows WORDS: until the console has them
shows() {
	for _ in $(seq 1200); do
		! grep -qa "$1" "$dir/watched.con" || return 0
		sleep 0.1
	done
	return 1
}
printf 'echo shell=$((6 * 7)); grep " do_sys_openat2$" /proc/kallsyms\n' >"$dir/names"
boot watched shell --pt=host --cpus=2 --trace-later --monitor="$dir/sock" -o "$dir/watched.vpt" &
for _ in $(seq 1200); do
	! ask status 2>/dev/null || break
	sleep 0.1
done
tap_run "monitor: the guest gets the typed command" ask input -a line="$(cat "$dir/names")"
tap_run "monitor: it runs" shows "^shell=42"
tap_run "monitor: a name of the kernel" shows "t do_sys_openat2"
start=$(tr -d '\r' <"$dir/watched.con" | awk '$3 == "do_sys_openat2" { print $1 }')
tap_run "monitor: trace-start" ask trace-start -a kernel -a filter="0x$start-0x$(printf %x $((0x$start + 15)))"
tap_run "monitor: mark" ask mark -a text=here -a vcpu=1
ask input -a line="ls /proc/version; cat /proc/version >/tmp/v; echo do=ne"
tap_run "monitor: the guest goes on" shows "^do=ne"
tap_run "monitor: trace-stop" ask trace-stop
tap_run "monitor: quit" ask quit
wait
"$VPT" decode -i "$dir/watched.vpt" >"$dir/watched.txt" 2>&1
tap_run "monitor: the traced function, and no other code" sh -c \
	"grep -c . '$dir/watched.txt' >&2; awk -v s=$start 'BEGIN { p = substr(s, 1, 14) } /^ *(0x)?ffff/ && index(\$0, p) == 0 { bad = 1 } END { exit bad }' '$dir/watched.txt'"
tap_run "monitor: it was called" test "$(insns "$dir/watched.vpt")" -ge 4
"$VPT" replay -q -o "$dir/replayed.vpt" --console=none "$dir/watched.vpt" </dev/null 2>"$dir/replayed.err"
tap_run "monitor: its replay writes the same file" cmp "$dir/watched.vpt" "$dir/replayed.vpt"
rm -f "$dir/watched.vpt" "$dir/replayed.vpt" "$dir/watched.txt"

# Four vCPUs: a CPU goes offline and online again by INIT, and all of it is what ran.
cat >"$dir/cpus" <<-'END'
	echo cpus=$(grep -c ^processor /proc/cpuinfo)
	cd /sys/devices/system/cpu/cpu2; echo 0 >online; echo offline=$(cat online); echo 1 >online
	for i in 1 2 3 4; do (head -c 300000 /bin/busybox | gzip | md5sum >/tmp/$i) & done; wait
	echo sums=$(cat /tmp/? | sort -u | wc -l) online=$(cat online)
	poweroff -f
END
boot smp shell --pt=host --cpus=4 --oracle-blocks --input="$dir/cpus" -o "$dir/smp.vpt"
tap_run "4 vCPUs: the guest powers off" test "$status" -eq 0
for said in cpus=4 offline=0 "sums=1 online=1"; do
	tap_run "4 vCPUs: $said" grep -q "^$said" "$dir/smp.con"
done
tap_run "4 vCPUs: all instructions are what ran" "$VPT" verify -q "$dir/smp.vpt"
tap_run "4 vCPUs: each of them ran" test "$("$VPT" info -j "$dir/smp.vpt" |
	jq '[.vcpus[].sessions[].insns | select(. > 1000000)] | length')" -ge 4
# The same while it runs. Each vCPU has parts of its own.
mv "$dir/smp.con" "$dir/smp.stored.con"
boot smp shell --pt=host --cpus=4 --verify=16M --input="$dir/cpus"
tap_run "4 vCPUs, verified while they run: status 0" test "$status" -eq 0
tap_run "4 vCPUs: all instructions are compared" grep -q \
	"^verify: $(insns "$dir/smp.vpt") retired, $(insns "$dir/smp.vpt") decoded, 0 mismatches" "$dir/smp.err"
tap_run "4 vCPUs: the guest prints the same" cmp "$dir/smp.stored.con" "$dir/smp.con"
"$VPT" replay -q -o "$dir/replayed.vpt" --console="$dir/replayed.con" "$dir/smp.vpt" \
	</dev/null 2>"$dir/replayed.err"
tap_run "4 vCPUs: the replay writes the same file" cmp "$dir/smp.vpt" "$dir/replayed.vpt"
rm -f "$dir/smp.vpt" "$dir/replayed.vpt"
# perf records on all CPUs at once. Each has a trace of its own.
boot all perf-all --pt=guest --cpus=2 --oracle-blocks -o "$dir/all.vpt"
tap_run "perf -a: the guest ends" test "$status" -eq 0
tap_run "perf -a: what was traced is what ran" "$VPT" verify -q "$dir/all.vpt"
tap_run "perf -a: both vCPUs were traced" test "$("$VPT" info -j "$dir/all.vpt" |
	jq '[.vcpus[] | select([.sessions[].insns] | add > 1000)] | length')" -eq 2
tap_run "perf -a: perf decodes each instruction" \
	grep -qa "^perf: $(insns "$dir/all.vpt") instructions" "$dir/all.con"
boot live perf-all --pt=guest --cpus=2 --verify=1M
tap_run "perf -a, verified while it runs: status 0" test "$status" -eq 0
tap_run "perf -a: all instructions are compared" grep -q "^verify: $(insns "$dir/all.vpt") retired" "$dir/live.err"
tap_run "perf -a: without an error" grep -qa "^perf: 0 errors" "$dir/all.con"
rm -f "$dir/all.vpt"
boot 64 boot --pt=off --cpus=64
tap_run "64 vCPUs boot" test "$status" -eq 0
tap_empty "64 vCPUs: no warp of the TSC" "$(grep -a -i "warp\|unstable" "$dir/64.con")"

# Linux reboots until the limit. The second boot prints the same lines.
reboot=
boot reboots again --pt=host --max-insns=3500000000 -o "$dir/reboots.vpt"
reboot=--no-reboot
tap_run "Linux reboots: init runs at least twice" test "$(grep -c "^init: 6" "$dir/reboots.con")" -ge 2
tap_run "the trace of all boots has no error" "$VPT" decode -q "$dir/reboots.vpt"
boot ends again --pt=off
tap_run "--no-reboot ends the run" test "$(grep -c "^init: 6" "$dir/ends.con")" -eq 1
rm -f "$dir/reboots.vpt"

# Linux owns PT: perf records and decodes a program, and the oracle has what ran.
boot perf perf --pt=guest --oracle -o "$dir/perf.vpt"
tap_run "perf in Linux: the guest ends" test "$status" -eq 0
tap_run "perf in Linux: what was traced is what ran" "$VPT" verify -q "$dir/perf.vpt"
tap_run "perf in Linux: perf decodes each instruction" \
	grep -qa "^perf: $(insns "$dir/perf.vpt") instructions" "$dir/perf.con"
tap_run "perf in Linux: without an error" grep -qa "^perf: 0 errors" "$dir/perf.con"
tap_end
