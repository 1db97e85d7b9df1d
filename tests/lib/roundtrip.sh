# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Source it: run a guest with an oracle, and see that the trace says what ran.

VPT=${O:-build/${MODE:-rel}}/vpt
GUEST=${O:-build/${MODE:-rel}}/guest

# roundtrip NAME FILE STATUS ELF [OPTION...]: one test. The guest must end with STATUS,
# and `vpt verify` must find no difference in FILE.
roundtrip() {
	rt_name=$1
	rt_file=$2
	rt_want=$3
	rt_elf=$4
	shift 4
	rt_said=$("$VPT" run "$@" --oracle -o "$rt_file" "$rt_elf" 2>&1)
	rt_status=$?
	if [ $rt_status -ne "$rt_want" ]; then
		tap_fail "$rt_name" "vpt run $* $rt_elf: exit status $rt_status, not $rt_want
$(echo "$rt_said" | tail -n 8)"
		return
	fi
	if ! rt_said=$("$VPT" verify "$rt_file" 2>&1); then
		tap_fail "$rt_name" "vpt run $* --oracle $rt_elf; vpt verify:
$(echo "$rt_said" | tail -n 8)"
		return
	fi
	tap_ok "$rt_name"
	rm -f "$rt_file"
}

# For tests of the KVM engine: where there is no KVM, one skip that says so.
need_kvm() {
	if [ ! -r /dev/kvm ] || [ ! -w /dev/kvm ]; then
		tap_skip "the KVM engine" "/dev/kvm is missing, or not to be opened by $(id -un)"
		tap_end
	fi
}
