#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt run --tasks with Debian's cloud kernel: the file has the processes and threads that the guest
# itself names, and each instruction belongs to the right one. The trace is that of a run without
# --tasks. Runs of 1 and 2 vCPUs.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/run/linux/initrd.sh

linux=$(patches/tools/guest) || exit 1
mkdir "$dir/own"
gcc -O2 -Wall -static -pthread -o "$dir/own/threads" tests/run/linux/tasks/threads.c || exit 1
linux_initrd

boot() { # NAME OPTION...
	local name=$1
	shift
	"$VPT" run -q --engine=soft --pt=host --no-reboot --mem=512M --initrd="$dir/initrd" \
		--console="$dir/$name.con" -o "$dir/$name.vpt" "$@" \
		--append="console=ttyS0 loglevel=0 panic=-1 rdinit=/vpt-init tasks" "$linux/vmlinuz"
}

tap_is() { # NAME GOT WANTED
	tap_empty "$1" "$(diff <(echo "$3") <(echo "$2"))"
}

# said NAME WHAT: the guest's lines of a kind.
said() {
	tr -d '\r' <"$dir/$1.con" | sed -n "s/^$2: //p"
}

spaces() { # NAME
	"$VPT" decode -j --spaces "$dir/$1.vpt" | jq -c '.spaces[]' >"$dir/$1.spaces"
}

# named NAME SPACE PID: the file has instructions of a space with this name and number.
named() {
	jq -e --arg space "$2, pid $3" 'select(.space == $space) | .insns > 0' "$dir/$1.spaces" |
		grep -q true
}

# What the guest says of itself.
check_names() { # NAME
	local name=$1 pid tid thread calls got rest
	tap_run "$name: three threads and three processes told their names" test \
		"$(said "$name" thread | wc -l) $(said "$name" process | wc -l)" = "3 3"
	while read -r pid rest; do
		tap_run "$name: $rest is there" named "$name" "$rest" "$pid"
	done < <(said "$name" process)
	"$VPT" decode --calls --spaces --symbols="$dir/own/threads" "$dir/$name.vpt" >"$dir/calls"
	while read -r pid tid thread calls; do
		tap_run "$name: thread $thread is there" named "$name" "$thread/$tid" "$pid"
		# Only this thread calls its function, and no call is lost or another thread's.
		got=$(awk -v f="run_$thread" '/^[^ ]/ { space = $0; sub(/: [0-9]+ insns$/, "", space) }
			$2 == f { n[space] += $1 } END { for (s in n) print s ": " n[s] }' "$dir/calls")
		tap_is "$name: calls of run_$thread" "$got" "$thread/$tid, pid $pid: $calls"
	done < <(said "$name" thread)
	# Threads of the kernel, and the idle task.
	for rest in "kthreadd, pid 2" "rcu_preempt, pid"; do
		tap_run "$name: $rest" grep -q "\"space\":\"$rest" "$dir/$name.spaces"
	done
	tap_run "$name: nothing of user space is without a name" test "$(jq -s \
		'[.[] | select(.space | startswith("cr3"))] | length' "$dir/$name.spaces")" -le 8
}

boot one --tasks
tap_run "a boot with tasks ends" test $? -eq 0
spaces one
check_names one
# Results of shards have the same tasks. A guess that is wrong would be repaired.
shards() { # KIND FORMAT...
	local kind=$1 plan=$dir/one.plan to
	shift
	"$VPT" shard plan -q "--$kind" --shards=12 -o "$plan" "$dir/one.vpt"
	tap_run "shards by $kind" test "$(wc -l <"$plan")" -gt 8
	tap_run "shards by $kind run" "$VPT" shard run -q --step=1 "$plan" 0
	for to in "$@"; do
		"$VPT" export -q --to="$to" "$dir/one.vpt" "$dir/want"
		"$VPT" shard merge --to="$to" "$plan" >"$dir/got" 2>"$dir/err"
		tap_run "$to of shards by $kind" cmp "$dir/want" "$dir/got"
	done
	# A repair keeps the result of two shards.
	tap_is "results by $kind: none was decoded again" "$(find "$plan.d" -name '*.part' | wc -l)" \
		"$(($(wc -l <"$plan") - 1))"
	"$VPT" shard cut -q "$plan" 2>"$dir/err"
	tap_run "pieces by $kind are refused" grep -q "no pieces for --spaces and --edges" "$dir/err"
	rm -rf "$plan.d"
}
shards edges edges drcov bitmap
shards spaces callgrind
boot plain
tap_run "the console is the same without tasks" cmp "$dir/one.con" "$dir/plain.con"
tap_run "the trace is the same" test \
	"$("$VPT" dump "$dir/one.vpt" | md5sum)" = "$("$VPT" dump "$dir/plain.vpt" | md5sum)"

# In user mode a CR3 is that of one process, so the sums of both views agree.
boot user --tasks --user
boot by-cr3 --user
spaces user
"$VPT" decode -j --spaces --pti "$dir/by-cr3.vpt" | jq -c '.spaces[]' >"$dir/by-cr3.spaces"
sums() { # NAME
	jq -s -c 'group_by(.cr3) | map([.[0].cr3, ([.[].insns] | add)]) | .[] | select(.[1] > 0)' "$dir/$1.spaces" | sort
}
# The kernel gives the top table of a process that ended to the next one, so the guest has fewer
# tables than processes, and any change of its init moves their number.
tap_run "several address spaces have user code" test "$(sums by-cr3 | wc -l)" -ge 3
tap_is "the instructions of each address space" "$(sums user)" "$(sums by-cr3)"

boot two --tasks --cpus=2
tap_run "a boot with 2 vCPUs ends" test $? -eq 0
spaces two
check_names two

# A selection by name, and a guest without BTF.
tap_is "a process by its name" \
	"$("$VPT" decode -j --space=ls "$dir/one.vpt" | jq .insns)" \
	"$(jq -s '[.[] | select(.space | startswith("ls, ")) | .insns] | add' "$dir/one.spaces")"
"$VPT" run -q --engine=soft --pt=host --tasks -o "$dir/payload.vpt" "$GUEST/calls.elf" >"$dir/out"
tap_run "a guest that is not Linux has no tasks" test $? -eq 0
tap_is "its tasks" "$("$VPT" info -j "$dir/payload.vpt" | jq '.vcpus[0].tasks')" 0
tap_end
