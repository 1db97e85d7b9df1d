#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/qemu/lib/machine.sh: the host of a scenario takes a line when all of it has come. The machine
# is a stand-in that answers in pieces, as QEMU does on a busy host.
# shellcheck disable=SC2154 # machine.sh sets them
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/qemu/lib/machine.sh
machine_dir=$(mktemp -d) || exit 1
trap 'rm -rf "$machine_dir"' EXIT
mkdir "$machine_dir/machine"
: >"$machine_dir/serial.log"

# begin <SCRIPT: a machine with this for its QMP.
begin() {
	local command
	{
		echo 'cd "$1/machine"; exec <qmp.in >qmp.out; answer() { read -r asked; printf "%s" "$@"; }'
		cat
	} >"$machine_dir/script"
	command=(bash "$machine_dir/script" "$machine_dir")
	declare -p command >"$machine_dir/machine/command"
	machine_start
}

begin <<'END'
answer $'{"return": {}}\n'
answer '{"return": '
sleep 1.3
printf '{"status": "running"}}\n{"event": "A'
sleep 1.3
printf 'B"}\n'
exec sleep 8
END
tap_run "an answer that comes in two pieces" test "$(qmp query-status)" = '{"status": "running"}'
tap_run "an event that comes in two" wait_event AB
kill "$(cat "$machine_dir/machine/pid")"
machine_ended

begin <<'END'
printf 'vpt: mark begun' >>../serial.log
sleep 0.5
printf '\r\nvpt: mark cut' >>../serial.log
END
began=$(date +%s%N)
wait_mark begun
tap_run "a mark has its end" test $((($(date +%s%N) - began) / 1000000)) -ge 400
machine_ended
tap_run "a mark without one is none" test "$(wait_mark cut)" = "the machine has ended without the mark cut"
tap_end
