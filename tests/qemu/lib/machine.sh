# SPDX-License-Identifier: GPL-2.0-or-later
# Start a machine, watch it, and send commands to it, for `run` and for host() of a scenario.
# shellcheck shell=bash disable=SC2154 # machine_dir
# $machine_dir/machine has the command line, FIFOs, and files with the machine's state: `pid`,
# `exit` with the status after the end, and `times`, whose second line is the machine's time.

# Start the machine with the command line of `run` and more arguments.
machine_start() { # [ARG...]
	local command state=$machine_dir/machine
	# shellcheck disable=SC1091 # an array, written by run
	. "$state/command"
	rm -f "$state/exit" "$state/pid" "$state/greeted" "$state"/*.in "$state"/*.out
	mkfifo "$state/qmp.in" "$state/qmp.out" "$state/tell.in" "$state/tell.out" || return 1
	{
		"${command[@]}" "$@" >>"$machine_dir/stdout.log" 2>>"$machine_dir/stderr.log" </dev/null &
		echo $! >"$state/pid"
		status=0
		wait $! || status=$?
		# User and system time of this shell, and then of its child.
		times >"$state/times"
		echo $status >"$state/exit"
	} &
	while [ ! -s "$state/pid" ]; do sleep 0.01; done
	machine_join
}

# Open the FIFOs in this shell. Both ends are open here, so that neither side waits.
machine_join() {
	local state=$machine_dir/machine
	exec {to_qmp}<>"$state/qmp.in" {from_qmp}<>"$state/qmp.out" {to_guest}<>"$state/tell.in"
}

machine_runs() { [ ! -s "$machine_dir/machine/exit" ]; }

machine_ended() {
	while machine_runs; do sleep 0.05; done
}

# Check that a file which the machine writes has a complete line that matches.
has_line() { # FILE REGEX
	{
		tr -d '\r' <"$1"
		echo "cut off"
	} | sed '$d' | grep -E -- "$2" >/dev/null
}

# Wait for a line.
wait_line() { # FILE REGEX WHAT
	until has_line "$1" "$2"; do
		if ! machine_runs; then
			# The line may have been the last output.
			has_line "$1" "$2" && return
			echo "the machine has ended without $3"
			return 1
		fi
		sleep 0.05
	done
}

wait_console() { wait_line "$machine_dir/serial.log" "$1" "a line '$1' on its console"; } # REGEX
wait_mark() { wait_line "$machine_dir/serial.log" "^vpt: mark $1\$" "the mark $1"; }      # WORD

# Check that the guest has not reached a mark yet.
before_mark() { # WORD
	if has_line "$machine_dir/serial.log" "^vpt: mark $1\$"; then
		echo "the guest was too fast: it has marked $1"
		return 1
	fi
}

tell() { echo "$1" >&"$to_guest"; } # WORD

# Read one line from QMP into $line. Fails after a second without a complete line, and keeps the
# begin of the line for the next call.
qmp_begun=
qmp_line() {
	local status=0
	IFS= read -r -t 1 line <&"$from_qmp" || status=1
	line=$qmp_begun$line
	qmp_begun=
	if [ $status -ne 0 ]; then
		qmp_begun=$line
		return 1
	fi
	line=${line%$'\r'}
	printf '%s\n' "$line" >>"$machine_dir/qmp.log"
}

qmp_answer() { # COMMAND [JSON]
	printf '{"execute": "%s"%s}\n' "$1" "${2:+, \"arguments\": $2}" >&"$to_qmp"
	while :; do
		if ! qmp_line; then
			! machine_runs || continue
			# The answer may have been the last output.
			qmp_line || break
		fi
		case $line in
		'{"return": '*)
			line=${line#'{"return": '}
			line=${line%'}'}
			return
			;;
		'{"error": '*)
			line=$(sed 's/.*"desc": "\(.*\)".*/\1/' <<<"$line")
			echo "QMP $1: $line" >&2
			return 1
			;;
		esac
	done
	echo "QMP $1: the machine has ended" >&2
	return 1
}

# Begin the QMP session once, in any subshell.
qmp_begin() {
	[ ! -e "$machine_dir/machine/greeted" ] || return 0
	: >"$machine_dir/machine/greeted"
	qmp_answer qmp_capabilities
}

qmp() { # COMMAND [JSON]
	local line
	qmp_begin && qmp_answer "$@" && printf '%s\n' "$line"
}

hmp() { # COMMAND
	local line text=${1//\\/\\\\}
	qmp_begin && qmp_answer human-monitor-command "{\"command-line\": \"${text//\"/\\\"}\"}" || return 1
	line=${line#\"}
	printf '%b' "${line%\"}" | tr -d '\r'
}

wait_event() { # NAME [COUNT]
	local line
	qmp_begin || return 1
	until [ "$(grep -c "\"event\": \"$1\"" "$machine_dir/qmp.log")" -ge "${2:-1}" ]; do
		qmp_line && continue
		machine_runs || {
			echo "the machine has ended without the event $1" >&2
			return 1
		}
	done
}
