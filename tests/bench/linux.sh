#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measure Linux under vpt run beside Debian's QEMU: the processor seconds of the whole process tree.
#
# usage: linux.sh [WORK...]     WORK: the start of names of works
#
# Each work runs in turn in QEMU without a trace, and under vpt untraced, traced into a file, and
# verified while it runs. QEMU emulates with one thread. One boot is also stored with a log of blocks,
# and verified from the file. BENCH_ROUNDS=3 is the number of rounds over all works, and
# BENCH_CPUS="1 2 8" has the numbers of vCPUs. BENCH_SIDES="qemu untraced traced verified" are the runs
# of each work. The guest must print the lines that the same work prints on this host.
#
# Every measurement is a line of a ledger in build/bench-linux, named after the programs that are
# measured: an interrupted run is resumed by the same command. Prints a table, writes
# build/bench-linux.json, and puts its rows into build/bench.json.
set -eu
# shellcheck disable=SC2034 # of lib.sh
tool=bench-linux from=$PWD
cd "$(dirname "$0")/../.."
O=${O:-build/${MODE:-rel}}
vpt=$O/vpt
# shellcheck source=patches/tools/lib.sh
. patches/tools/lib.sh
rounds=${BENCH_ROUNDS:-3}
cpus_list=${BENCH_CPUS:-1 2 8}
qemu=$(path_of "${VPT_QEMU_PLAIN:-$(command -v qemu-system-x86_64)}") || fail "there is no qemu-system-x86_64"
works=(boot gzip_9 forks awk_sum syscalls systemd)
dir=build/bench-linux
mkdir -p $dir
TIMEFORMAT='%U %S %R'

linux=$(patches/tools/guest)
debian=
if [ "$(id -u)" -eq 0 ]; then
	debian=$(patches/tools/debian bookworm)
else
	say "systemd is not measured: its image needs root for debootstrap"
fi

make_scratch
# The initrd with the work, and the disk with Debian's.
mkdir -p "$scratch/own/bench" "$scratch/part"
cp tests/bench/linux/init tests/bench/linux/work "$scratch/own/bench/"
chmod 755 "$scratch/own/bench/init"
archive "$scratch/own" >"$scratch/own.cpio"
cat "$linux/initrd" "$scratch/own.cpio" >"$scratch/initrd"
cp tests/bench/linux/session "$scratch/session"
truncate -s %4096 "$scratch/session"

key=$(printf '%s\n' "$vpt" "$qemu" tests/bench/linux/{init,work,session} | hash_of "$linux $debian")
ledger=$dir/$key.ledger
touch "$ledger"

expect() { # WORK CPUS: the lines that the guest must print
	if [ "$1" = systemd ]; then
		sh tests/bench/linux/session
	else
		busybox sh tests/bench/linux/work "$1" "$2" "$scratch/part" | sed 's/^/bench: /'
	fi | grep -v -x "bench: end .*"
}

# Sets kernel, initrd, append, disks (for vpt) and drives (for QEMU).
machine_of() { # WORK CPUS
	if [ "$1" = systemd ]; then
		kernel=$debian/vmlinuz initrd=$debian/initrd mem=1024
		append="console=ttyS0 loglevel=3 root=/dev/vda systemd.mask=session.service"
		append="$append systemd.wants=multi-user.target"
		append="$append \"systemd.run=/bin/sh -c 'sh /dev/vdb >/dev/console 2>&1'\""
		disks=("--disk=$debian/image" "--disk=$scratch/session,ro" --virtio-rng)
		drives=(-drive "if=virtio,format=raw,snapshot=on,file=$debian/image"
			-drive "if=virtio,format=raw,readonly=on,file=$scratch/session"
			-device virtio-rng-pci)
	else
		kernel=$linux/vmlinuz initrd=$scratch/initrd mem=512
		append="console=ttyS0 loglevel=0 panic=-1 rdinit=/bench/init bench.work=$1 bench.cpus=$2"
		disks=() drives=()
	fi
}

in_vpt() { # WORK CPUS OPTION...
	machine_of "$1" "$2"
	local cpus=$2
	shift 2
	"$vpt" run --engine=soft --no-reboot --timeout=3600 "--mem=${mem}M" "--cpus=$cpus" "${disks[@]}" \
		"--initrd=$initrd" "--append=$append" "--console=$scratch/console" "$@" "$kernel"
}

# The processor is that of vpt's model skl, as far as QEMU emulates it.
in_qemu() { # WORK CPUS
	machine_of "$1" "$2"
	timeout 3600 "$qemu" -nodefaults -no-user-config -display none -no-reboot -machine pc \
		-accel tcg,thread=single -cpu Skylake-Client -m "$mem" -smp "$2" "${drives[@]}" \
		-kernel "$kernel" -initrd "$initrd" -append "$append" -serial "file:$scratch/console"
}

run_side() { # WORK CPUS SIDE
	case $3 in
	qemu) in_qemu "$1" "$2" ;;
	untraced) in_vpt "$1" "$2" --pt=off ;;
	traced) in_vpt "$1" "$2" --pt=host -o "$scratch/trace.vpt" ;;
	verified) in_vpt "$1" "$2" --pt=host --verify ;;
	stored) in_vpt "$1" "$2" --pt=host --oracle-blocks -o "$scratch/stored.vpt" ;;
	read) "$vpt" verify "$scratch/stored.vpt" ;;
	esac
}

# Check that the guest did the work, and what vpt says of the trace.
check_side() { # WORK CPUS SIDE
	case $3 in
	read | verified) grep -q "0 mismatches" "$scratch/said" || return ;;
	esac
	[ "$3" != read ] || return 0
	tr -d '\r' <"$scratch/console" | grep -a -o "bench: .*" >"$scratch/lines" || :
	expected=$scratch/expected.$1.$2
	[ -e "$expected" ] || expect "$1" "$2" >"$expected"
	grep -v -x "bench: end .*" "$scratch/lines" | cmp -s - "$expected" || return
	grep -q -x "bench: end with $2 processors" "$scratch/lines"
}

# What a side leaves: the bytes of its file, or the instructions that were compared.
count_of() { # SIDE
	case $1 in
	traced) stat -c %s "$scratch/trace.vpt" ;;
	stored) stat -c %s "$scratch/stored.vpt" ;;
	read | verified) sed -n 's/.*[^0-9]\([0-9]*\) decoded.*/\1/p' "$scratch/said" | tail -n 1 ;;
	*) echo 0 ;;
	esac
}

measure() { # WORK CPUS ROUND SIDE: a line of the ledger
	local status=0 times
	# shellcheck disable=SC2024 # the output of the command is in a file of its own
	times=$({ time run_side "$1" "$2" "$4" >"$scratch/said" 2>&1 </dev/null; } 2>&1) || status=$?
	if [ $status -eq 2 ] && [ "$4" = verified ]; then
		say "$1, $2 vCPUs: $(head -n 1 "$scratch/said")"
		printf '%s\t%s\t%s\t%s\trefused\n' "$1" "$2" "$3" "$4" >>"$ledger"
		return 0
	fi
	if [ $status -ne 0 ] || ! check_side "$1" "$2" "$4"; then
		tail -n 5 "$scratch/said" "$scratch/lines" >&2 || :
		fail "$1, $2 vCPUs, $4: status $status, or the work was not done"
	fi
	read -r user system elapsed <<<"$times"
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" \
		"$(awk -v u="$user" -v s="$system" 'BEGIN { printf "%.3f", u + s }')" "$elapsed" \
		"$(count_of "$4")" >>"$ledger"
	rm -f "$scratch/trace.vpt"
}

has() { # WORK CPUS ROUND SIDE
	grep -q "^$1"$'\t'"$2"$'\t'"$3"$'\t'"$4"$'\t' "$ledger"
}

sides_of() { # WORK CPUS
	echo "${BENCH_SIDES:-qemu untraced traced verified}"
	[ "$1 $2" != "boot 1" ] || echo stored read
}

is_wanted() { # WORK NAME...
	local work=$1 name
	shift
	[ $# -gt 0 ] || return 0
	for name in "$@"; do [[ $work != "$name"* ]] || return 0; done
	return 1
}

say "ledger: $ledger, $(wc -l <"$ledger") lines"
for ((round = 1; round <= rounds; round++)); do
	for work in "${works[@]}"; do
		is_wanted "$work" "$@" || continue
		[ "$work" != systemd ] || [ -n "$debian" ] || continue
		for cpus in $cpus_list; do
			for side in $(sides_of "$work" "$cpus"); do
				# The boot that is read must be there.
				! has "$work" "$cpus" $round "$side" ||
					{ [ "$side" = stored ] && ! has "$work" "$cpus" $round read; } || continue
				[ ! -t 2 ] || printf '\r\033[Kround %d: %s, %d vCPUs, %s' $round "$work" "$cpus" "$side" >&2
				measure "$work" "$cpus" $round "$side"
			done
			rm -f "$scratch/stored.vpt"
		done
	done
done
[ ! -t 2 ] || printf '\r\033[K' >&2

tests/bench/linux.py "$ledger" "$rounds" build/bench-linux.json
tests/bench/merge.py build/bench-linux.json build/bench.json
