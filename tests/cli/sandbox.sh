#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each verb does its work within the sandbox, which is on by default, and what it writes is the
# same as without. test_sandbox shows what the sandbox refuses.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
VPT=$(realpath "$VPT")
GUEST=$(realpath "$GUEST")

# A guest that runs until it is stopped.
cat >"$dir/loop.S" <<'END'
	.globl _start
_start:	jmp _start
END
# One that crashes, which is reported with what a child process reads of its symbols and lines.
printf '.globl _start\n_start: ud2\n' >"$dir/crash.S"
for guest in loop crash; do
	gcc -g -nostdlib -static -no-pie -Wl,--build-id=none,-Ttext=0x100000,-z,noexecstack \
		-o "$dir/$guest.elf" "$dir/$guest.S" || exit 1
done

# Without Landlock --sandbox=on must be refused, and the rest of the sandbox be used.
on=on
"$VPT" info --sandbox=on /dev/null 2>"$dir/why"
if [ $? -eq $HOST ]; then
	tap_run "--sandbox=on says what the kernel lacks" grep -q "Landlock" "$dir/why"
	on=auto
fi

# The kernel's view of a process while its guest runs: MODE EXPECTED.
status_of() {
	"$VPT" run -q --engine=soft --pt=off --sandbox="$1" --timeout=20 "$dir/loop.elf" 2>/dev/null &
	pid=$!
	for _ in $(seq 100); do
		sleep 0.1
		grep -E '^(NoNewPrivs|Seccomp|CapEff):' "/proc/$pid/status" | tr -s '\t\n' ' ' >"$dir/status"
		! grep -qE "$2" "$dir/status" || break
	done
	kill "$pid"
	wait "$pid" 2>/dev/null
	tap_run "--sandbox=$1: as the kernel reports it" grep -qE "$2" "$dir/status"
}
status_of $on 'CapEff: 0000000000000000 NoNewPrivs: 1 Seccomp: 2'
status_of auto 'CapEff: 0000000000000000 NoNewPrivs: 1 Seccomp: 2'
status_of off "NoNewPrivs: $(sed -n 's/^NoNewPrivs:\t//p' /proc/self/status) Seccomp: $(
	sed -n 's/^Seccomp:\t//p' /proc/self/status)"

# both NAME ARG...: the same status, output and files with and without.
both() {
	name=$1
	shift
	for mode in $on off; do
		mkdir "$dir/run"
		(cd "$dir/run" && "$VPT" "$@" "--sandbox=$mode" >out 2>err </dev/null
		echo "status $?" >>out)
		# Times differ.
		sed -i 's,[0-9.]* s\>,,' "$dir/run/out" "$dir/run/err"
		rm -rf "${dir:?}/$mode"
		mv "$dir/run" "$dir/$mode"
	done
	tap_run "$name" diff -r "$dir/$on" "$dir/off"
}
demo=$GUEST/demo.elf
both "run" run --engine=soft --pt=host --oracle -o x.vpt "$demo"
cp "$dir/off/x.vpt" "$dir/x.vpt"
both "run, a snapshot and a console" run --engine=soft --pt=host --snapshot=x.vps \
	--snapshot-at=20000 --console=con -o y.vpt "$demo"
cp "$dir/off/x.vps" "$dir/x.vps"
both "restore" restore --console=con --snapshot=y.vps --snapshot-every=500000 -o x.vpt "$dir/x.vps"
both "restore, to a device" restore -o /dev/null --console=/dev/null "$dir/x.vps"
both "snapshot" snapshot "$dir/x.vps"
both "info" info "$dir/x.vpt"
both "dump" dump "$dir/x.vpt"
both "decode" decode --calls "$dir/x.vpt"
both "decode, debug information" decode -g "$dir/x.vpt"
both "verify" verify "$dir/x.vpt"
both "export to perf" export --to perf "$dir/x.vpt" out.perf
both "pack" pack "$dir/x.vpt" packed.vpt
"$VPT" run -q --engine=soft --pt=host --psb=0 -o "$dir/exact.vpt" "$GUEST/jit.elf" >/dev/null
"$TOOLS/reads" 64 "$dir/exact.vpt" "$dir/reads.vpt"
both "refine" refine "$dir/reads.vpt" refined.vpt
"$VPT" run -q --engine=soft --pt=host --trace=rtit -o "$dir/rtit.vpt" "$demo" >/dev/null
both "export to PT" export --to pt "$dir/rtit.vpt" pt.vpt
both "export to perf, of RTIT" export --to perf "$dir/rtit.vpt" out.perf
both "a guest that crashes" run --engine=soft --pt=host -o x.vpt "$dir/crash.elf"
tap_run "its report has the line" grep -q "crash.S:2" "$dir/$on/err"
if [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
	both "lockstep" lockstep --max-insns=20000 "$demo"
	both "run, KVM" run --engine=kvm --pt=host -o x.vpt --max-insns=20000 "$demo"
else
	tap_skip "lockstep" "no /dev/kvm"
fi

# Root without capabilities could not give a trace its name in another user's directory.
if [ "$(id -u)" -eq 0 ]; then
	mkdir "$dir/theirs"
	chown 65534 "$dir/theirs"
	chmod 700 "$dir" "$dir/theirs"
	tap_run "root, in a directory of another user" "$VPT" run -q --engine=soft --pt=host \
		--sandbox=$on -o "$dir/theirs/x.vpt" "$demo"
	tap_run "the trace is there" test -s "$dir/theirs/x.vpt"
fi

refuses "no such mode" "$USAGE" "sandbox=maybe: not auto, on or off" run --sandbox=maybe "$demo"
tap_run "before the verb" "$VPT" --sandbox=$on info "$dir/x.vpt"
refuses "behind -- it is a file" "$INPUT" "No such file" info -- --sandbox=off
tap_end
