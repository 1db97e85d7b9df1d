#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The monitor of a run: its commands, what they change, their replay, and requests that it refuses.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
elf=$GUEST/echo.elf
sock=$dir/sock
status=0

ask() { # COMMAND [-a NAME=VALUE]...
	timeout 30 "$VPT" monitor "$sock" "$@"
}
# start NAME OPTION...: the guest waits for lines, and halts between its timer's ticks.
start() {
	name=$1
	shift
	"$VPT" run -q --engine=soft --monitor="$sock" "$@" "$elf" >"$dir/$name.con" 2>"$dir/$name.err" &
	pid=$!
	for _ in $(seq 200); do
		! ask status >/dev/null 2>&1 || break
		sleep 0.05
	done
}
end() { # sets $status
	wait $pid
	status=$?
}
# wait_for NAME WORDS: until the guest has printed them.
wait_for() {
	for _ in $(seq 200); do
		! grep -q "$2" "$dir/$1.con" || return 0
		sleep 0.05
	done
	return 1
}
said() { # FILTER: of jq, on the status
	ask -j status | jq -e ".return | $1" >/dev/null
}

start all --pt=host --trace-later --arg=3 --snapshot="$dir/s.vps" -o "$dir/all.vpt"
tap_run "only the owner can open the socket" test "$(stat -c %a "$sock")" = 600
tap_run "status has the vCPU" said '(.vcpus | length) == 1 and .vcpus[0].vcpu == 0'
tap_run "--trace-later: no trace yet" said '.trace_on == false and .vcpus[0].trace_bytes == 0'
tap_run "mark" ask mark -a text="before the trace"
tap_run "trace-start with a name of the guest" ask trace-start -a filter=drain -a filter=printk
tap_run "input" ask input -a line=hello
tap_run "the guest reads it" wait_for all ": hello"
tap_run "the trace is on, and counts" said '.trace_on and .vcpus[0].traced_insns > 0'
tap_run "trace-stop" ask trace-stop
tap_run "the trace is off" said '.trace_on == false and .vcpus[0].traced == false'
tap_run "snapshot" ask snapshot
tap_run "trace-start with other arguments" ask trace-start -a kernel
"$VPT" monitor -j "$sock" '{"execute": "mark", "arguments": {"text": "\u0068ere", "vcpu": 0}, "id": [7]}' >"$dir/answer"
tap_run "a request in JSON keeps its id" jq -e '.id == [7] and .return.insns > 0' "$dir/answer"

# What it refuses, while the guest runs.
counted=0
no() { # NAME WORDS COMMAND...
	refused=$1
	words=$2
	shift 2
	refuses "$refused" "$FAIL" "$words" monitor "$sock" "$@"
	counted=$((counted + 1))
}
no "another command" "no such command" stop
no "another argument" "no such argument" mark -a text=x -a colour=red
no "no argument" "text: missing" input
no "a vCPU that is not there" "no such vCPU" mark -a text=x -a vcpu=1
no "a number that is none" "not a number" mark -a text=x -a vcpu=one
no "a text that is a number" "not a string" '{"execute": "input", "arguments": {"text": 5}}'
no "a function that is not there" "there is no symbol" trace-start -a filter=nowhere
no "a range that ends before it begins" "ends before" trace-start -a filter=0x2000-0x1000
no "more ranges than the processor has" "ranges" trace-start -a filter=1-2 -a filter=3-4 -a stop=5-6
no "more ranges than any processor has" "more ranges" trace-start -a filter=1-2 -a filter=1-2 -a filter=1-2 \
	-a filter=1-2 -a filter=1-2
no "no JSON" "not JSON" '{"execute": '
no "two members of a name" "not JSON" '{"execute": "status", "execute": "quit"}'
no "no object" "not a string" '{"execute": 1}'
no "another member" "no such member" '{"execute": "status", "more": 1}'
no "more input than there is room" "has not read" input -a text="$(printf '%5000s' x)"
tap_run "all of these were tried" test $counted -eq 15

# Clients that are no vpt monitor: parts of lines, several lines at once, a line without an end.
cat >"$dir/client.py" <<'END'
import socket, sys
def client():
    s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(sys.argv[1]); return s
s = client(); f = s.makefile()
for c in b'{"execute":"status"}\n{"execute":"mark","arguments":{"text":"raw"}}\nxx\n':
    s.send(bytes([c]))
print([next(iter(__import__("json").loads(f.readline()))) for _ in range(3)])
s.close()
s = client(); s.send(b'{"execute"'); s.close()
s = client(); f = s.makefile()
try:
    s.sendall(b"x" * 200000)
except OSError:
    pass
try:
    print("too long" in f.readline())
except OSError:
    print("closed")
s.close()
s = client(); f = s.makefile(); s.sendall(b'{"execute":"status"}\n' * 50)
print(sum("return" in f.readline() for _ in range(50)))
END
timeout 60 python3 "$dir/client.py" "$sock" >"$dir/client"
tap_run "a client that sends bytes" grep -q "^\['return', 'return', 'error'\]" "$dir/client"
tap_run "a line that is too long" grep -qE "^(True|closed)" "$dir/client"
tap_run "50 requests at once" grep -qx 50 "$dir/client"

refuses "a second run with the same socket" "$HOST" "Address already in use" run --engine=soft --pt=off \
	--monitor="$sock" "$elf"
ask input -a line=end >/dev/null
end
tap_run "the guest ends" test $status -eq 0
tap_run "the socket is gone" test ! -e "$sock"
"$VPT" info -j "$dir/all.vpt" >"$dir/info"
tap_run "both traces are in the file" jq -e '.vcpus[0].sessions | length == 2' "$dir/info"
tap_run "the marks are of the monitor" jq -e \
	'[.vcpus[0].mark_list[] | select(.by == "monitor") | .text] == ["before the trace", "here", "raw"]' "$dir/info"
tap_run "the trace decodes" "$VPT" decode -q "$dir/all.vpt"
"$VPT" replay -q -o "$dir/again.vpt" "$dir/all.vpt" >"$dir/again.con" 2>&1
tap_run "its replay writes the same file" cmp "$dir/all.vpt" "$dir/again.vpt"
tap_run "its replay prints the same" cmp "$dir/all.con" "$dir/again.con"
tap_run "the snapshot resumes" sh -c "echo end | '$VPT' restore -q --input=- '$dir/s.vps' | grep -q ': end'"

# One vCPU at a time. The second one waits for a start-up IPI that never comes.
start vcpus --pt=host --trace-later --cpus=2 --arg=3 -o "$dir/vcpus.vpt"
tap_run "trace-start of one vCPU" ask trace-start -a vcpu=1
tap_run "the other one has no trace" said '.trace_on and .vcpus[1].trace_on and .vcpus[1].traced and
	(.vcpus[0].trace_on or .vcpus[0].traced | not)'
tap_run "trace-start of the other one, with arguments" ask trace-start -a vcpu=0 -a kernel
tap_run "trace-stop of one vCPU" ask trace-stop -a vcpu=1
ask input -a line=hello >/dev/null
tap_run "the guest reads it, traced" wait_for vcpus ": hello"
tap_run "one trace is on" said '.trace_on and .vcpus[0].trace_on and .vcpus[0].traced_insns > 0 and
	(.vcpus[1].trace_on or .vcpus[1].traced | not)'
no "a trace of a vCPU that is not there" "no such vCPU" trace-stop -a vcpu=2
ask input -a line=end >/dev/null
end
tap_run "the guest ends" test $status -eq 0
"$VPT" info -j "$dir/vcpus.vpt" >"$dir/info"
tap_run "each vCPU has a session" jq -e '[.vcpus[].sessions | length] == [1, 1]' "$dir/info"
"$VPT" replay -q -o "$dir/again.vpt" "$dir/vcpus.vpt" >/dev/null 2>&1
tap_run "the replay selects the same vCPUs" cmp "$dir/vcpus.vpt" "$dir/again.vpt"

start verify --pt=host --verify --trace-later --arg=3
tap_run "--verify: trace-start" ask trace-start
ask input -a "text=one
two
" >/dev/null
wait_for verify ": two"
tap_run "--verify: trace-stop and trace-start" sh -c "'$VPT' monitor '$sock' trace-stop &&
	'$VPT' monitor '$sock' trace-start -a kernel"
ask input -a line=end >/dev/null
end
tap_run "--verify: what was traced is what ran" test $status -eq 0

start busy --pt=host --arg=1 -o "$dir/busy.vpt"
tap_run "a guest that never halts answers" ask mark -a text=busy
tap_run "quit" ask quit
end
tap_run "quit ends the run as a signal does" test $status -eq "$FAIL"
"$VPT" replay -q -o "$dir/again.vpt" "$dir/busy.vpt" >/dev/null 2>&1
tap_run "and its replay" cmp "$dir/busy.vpt" "$dir/again.vpt"

start guest --pt=guest --arg=3
no "the trace of a guest" "the trace is the guest's" trace-start
no "a snapshot without a name" "no --snapshot" snapshot
kill -KILL $pid
wait $pid 2>/dev/null
tap_run "a killed run leaves its socket" test -S "$sock"
refuses "nobody listens" "$HOST" "Connection refused" monitor "$sock" status
start after --pt=off --arg=3
tap_run "the next run takes its place" ask status
ask quit >/dev/null
end
echo mine >"$dir/file"
refuses "a file that is no socket" "$HOST" "not a socket" run --engine=soft --pt=off --monitor="$dir/file" "$elf"
tap_run "it stays" grep -q mine "$dir/file"
refuses "--trace-later alone" "$USAGE" "requires --monitor" run --engine=soft --pt=host --trace-later \
	-o "$dir/x.vpt" "$elf"
refuses "a name that is too long" "$HOST" "too long" run --engine=soft --pt=off \
	--monitor="$dir/$(printf '%0200d' 1)" "$elf"
tap_end
