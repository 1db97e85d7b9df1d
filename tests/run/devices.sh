#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Input, a monitor and devices of a guest that KVM runs, with one and two vCPUs, and with a change of
# engine. What Linux sees of the devices is the subject of the test bed (linux-kvm-devices).
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh
need_kvm
elf=$GUEST/echo.elf
sock=$dir/sock

# lines FILE: the lines that the guest received, without their times.
lines() {
	tr -d '\r' <"$1" | sed -n 's/^[0-9]*: //p'
}
long='a line that is longer than the FIFO of sixteen bytes'
printf 'hello\n%s\nend\n' "$long" >"$dir/text"
printf 'hello\n%s\nend\n' "$long" >"$dir/want"

for engine in kvm "kvm --cpus=2" kvm,soft; do
	# The guest polls, waits for interrupts, and also has a ticking timer.
	for how in 1 2 3; do
		# shellcheck disable=SC2086 # words
		tap_run "$engine: a file, way $how to wait" "$VPT" run -q --engine=$engine --pt=off \
			--timeout=100 --arg=$how --input="$dir/text" --console="$dir/con" "$elf"
		lines "$dir/con" >"$dir/got"
		tap_run "$engine: every byte arrives once" cmp "$dir/want" "$dir/got"
	done
	# The guest halts, and nothing but the next line wakes it.
	# shellcheck disable=SC2086 # words
	(
		printf 'hello\n%s\n' "$long"
		sleep 1
		printf 'end\n'
	) | "$VPT" run -q --engine=$engine --pt=off --timeout=100 --console=stdio --arg=2 "$elf" >"$dir/con"
	lines "$dir/con" >"$dir/got"
	tap_run "$engine: a pipe wakes a halted guest" cmp "$dir/want" "$dir/got"
	# Without more input nothing can wake it.
	# shellcheck disable=SC2086 # words
	printf 'hello\n' | "$VPT" run -q --engine=$engine --pt=off --timeout=100 --console=stdio \
		--arg=2 "$elf" >"$dir/con" 2>"$dir/err"
	tap_run "$engine: a guest that nothing can wake ends" grep -qE \
		"halted for ever|nothing wakes a processor" "$dir/err"
done

ask() { # COMMAND [-a NAME=VALUE]...
	timeout 60 "$VPT" monitor "$sock" "$@"
}
said() { # FILTER: of jq, on the status
	ask -j status | jq -e ".return | $1" >/dev/null
}
start() { # NAME OPTION...
	name=$1
	shift
	"$VPT" run -q --monitor="$sock" --timeout=300 "$@" "$elf" >"$dir/$name.con" 2>"$dir/$name.err" &
	pid=$!
	for _ in $(seq 400); do
		! ask status >/dev/null 2>&1 || break
		sleep 0.05
	done
}
wait_for() { # NAME WORDS: until the guest has printed them
	for _ in $(seq 400); do
		! grep -q "$2" "$dir/$1.con" || return 0
		sleep 0.05
	done
	return 1
}
cat >"$dir/prompt.py" <<'END'
# Time 50 commands that a vCPU must execute, while the guest does what it does.
import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.settimeout(60); s.connect(sys.argv[1]); f = s.makefile()
began = time.monotonic()
for _ in range(50):
    s.sendall(b'{"execute":"mark","arguments":{"text":"x"}}\n')
    assert "return" in f.readline()
print("%.3f s" % (time.monotonic() - began))
s.sendall(b'{"execute":"status"}\n{"execute":"mark","arguments":{"text":"x"}}\n' * 25)
assert sum("return" in f.readline() for _ in range(50)) == 50
# A tick of 100 ms for each command would take 5 s.
sys.exit(time.monotonic() - began > 3)
END
for cpus in 1 2; do
	# The guest halts, and then one that polls is always in KVM_RUN.
	for how in 2 1; do
		start m --engine=kvm --pt=off --cpus=$cpus --arg=$how
		tap_run "$cpus vCPUs, way $how: status has no counts of instructions" said \
			'(.vcpus | length) == '$cpus' and .engine == "kvm" and
			 (has("insns") or has("tsc") or (.vcpus[] | has("insns") or has("traced_insns")) | not)'
		tap_run "$cpus vCPUs, way $how: input" ask input -a line=hello
		tap_run "$cpus vCPUs, way $how: the guest reads it" wait_for m ": hello"
		tap_run "$cpus vCPUs, way $how: commands take effect at once" python3 "$dir/prompt.py" "$sock"
		refuses "$cpus vCPUs, way $how: no trace of a guest that has none" "$FAIL" "use --pt=host" \
			monitor "$sock" trace-start
		tap_run "$cpus vCPUs, way $how: quit" ask quit
		wait $pid
		tap_run "$cpus vCPUs, way $how: it ends the run as a signal does" test $? -eq "$FAIL"
	done
done

# KVM steps a trace that the monitor begins. The file has no recording of the input.
start t --engine=kvm --pt=host --trace-later --arg=3 -o "$dir/t.vpt" --snapshot="$dir/s.vps"
tap_run "--trace-later: no trace yet" said '.trace_on == false and .vcpus[0].traced == false'
tap_run "trace-start" ask trace-start -a vcpu=0 -a filter=drain
tap_run "input" ask input -a line=hello
tap_run "the guest reads it" wait_for t ": hello"
tap_run "the trace is on" said '.trace_on and .vcpus[0].trace_on and .vcpus[0].traced'
tap_run "trace-stop" ask trace-stop
tap_run "the trace is off" said '.trace_on == false and .vcpus[0].traced == false'
refuses "a vCPU that is not there" "$FAIL" "no such vCPU" monitor "$sock" trace-start -a vcpu=1
tap_run "snapshot" ask snapshot
tap_run "it has no count of instructions" sh -c \
	"'$VPT' monitor -j '$sock' mark -a text=here | jq -e '.return == {}'"
ask input -a line=end >/dev/null
wait $pid
tap_run "the guest ends" test $? -eq 0
"$VPT" info -j "$dir/t.vpt" >"$dir/info"
tap_run "the file has a session, the mark and no input" jq -e \
	'(.vcpus[0].sessions | length) == 1 and .inputs == 0 and .vcpus[0].mark_list[0].text == "here"' "$dir/info"
tap_run "the trace decodes" "$VPT" decode -q "$dir/t.vpt"
refuses "no replay" "$INPUT" "no other engine repeats a run .use vpt run --engine=soft" replay -q "$dir/t.vpt"
for engine in soft kvm; do
	printf 'end\n' | "$VPT" restore -q --engine=$engine --timeout=100 --input=- "$dir/s.vps" >"$dir/con"
	tap_run "the snapshot resumes with input, engine $engine" grep -q ': end' "$dir/con"
done

# The devices are there. A payload has no driver of them.
head -c 65536 /dev/zero >"$dir/image"
mkdir "$dir/folder"
for engine in kvm "kvm --cpus=2" kvm,soft; do
	# shellcheck disable=SC2086 # words
	tap_run "$engine: a run with all devices" "$VPT" run -q --engine=$engine --pt=off --sandbox=on \
		--timeout=100 --disk="$dir/image" --share="$dir/folder" --net=user --virtio-rng \
		--virtio-console --realtime --arg=0 "$elf"
done
"$VPT" run --pt=host --disk="$dir/image" -o "$dir/a.vpt" "$GUEST/demo.elf" >"$dir/con" 2>"$dir/err"
tap_run "auto, traced: the software CPU" grep -q "engine soft" "$dir/err"
tap_end
