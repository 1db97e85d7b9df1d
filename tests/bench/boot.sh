#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Record a whole boot of Debian's kernel in our QEMU, from the reset vector on, all processes,
# without an oracle, and print the file's name. What runs is that of the scenario record-boot.
# The file lies in the cache, under a hash of QEMU, the guest and the scenario.
# usage: boot.sh [oracle]    with one, of blocks: 2 GB
set -eu
name=boot recording=
[ "${1-}" != oracle ] || name=verify-blocks-boot recording=,oracle=on
cd "$(dirname "$0")/../.."
# shellcheck disable=SC2034 # of lib.sh
tool=bench-decode from=$PWD
# shellcheck source=patches/tools/lib.sh
. patches/tools/lib.sh
# shellcheck source=tests/qemu/scenarios/record-boot
. tests/qemu/scenarios/record-boot
qemu=$(patches/tools/qemu)
kernel=$(patches/tools/guest)

record() { # DIR
	say "recording a boot of Linux"
	make_scratch
	{
		printf '%s\nset -eu\n' '. /etc/scenario'
		declare -f guest
		echo guest
	} >"$scratch/guest"
	begin_log boot.log
	logged boot.log "the boot failed" tests/qemu/run --out "$scratch/out" --mem "$mem" --time "$limit" \
		--pt off --qemu "$qemu/qemu-system-x86_64" "$scratch/guest" -- \
		-object "vpt-recording,id=boot,filename=$1/$name.vpt$recording"
}

cached "$name" "$(echo tests/bench/boot.sh | hash_of "$qemu $kernel $name $(declare -f guest)")" record
# shellcheck disable=SC2154 # set by cached
echo "$entry/$name.vpt"
