# SPDX-License-Identifier: GPL-2.0-or-later
# Functions for verify() of scenarios.
# shellcheck shell=bash

# A bare-metal payload's own checks passed. The payload omitted only the checks that the pattern
# names, because the processor lacks their features.
payload_passed() { # [NOTE_PATTERN]
	grep '^FAIL\|^SKIP' serial.log && return 1
	if grep '^NOTE' serial.log | grep -v "${1:-^$}"; then
		echo "the payload omitted these checks"
		return 1
	fi
	grep '^SUMMARY: .* 0 failed, 0 skipped' serial.log
}

# The trace in an oracle log decodes to the instructions that retired, which are at least LEAST.
round_trip() { # LEAST [IMPORT_OPTION...]
	cut_round_trip "$@"
	if [ "$((retired + untold))" -ne "$decoded" ]; then
		echo "$retired retired, $decoded decoded"
		return 1
	fi
}

# The same for an output that ended before the trace: the decoded instructions are the first ones.
cut_round_trip() { # LEAST [IMPORT_OPTION...]
	local least=$1 line mismatches
	shift
	"$O/tests/testbed-import" "$@" -o trace.vpt oracle.log
	line=$("$O/vpt" verify trace.vpt) || {
		echo "$line"
		return 1
	}
	echo "$line"
	retired=$(sed -n 's/^verify: \([0-9]*\) retired.*/\1/p' <<<"$line")
	# No packet distinguishes these from an INT n that retired.
	untold=$(sed -n 's/^\([0-9]*\) instructions look as if they had run.*/\1/p' <<<"$line")
	untold=${untold:-0}
	decoded=$(sed -n 's/^verify: .* \([0-9]*\) decoded.*/\1/p' <<<"$line")
	mismatches=$(sed -n 's/^verify: .* \([0-9]*\) mismatches.*/\1/p' <<<"$line")
	echo "instructions $decoded"
	echo "mismatches $mismatches"
	if [ "$mismatches" -ne 0 ] || [ "$decoded" -gt $((retired + untold)) ] || [ "$decoded" -lt "$least" ]; then
		echo "$retired retired, $decoded decoded, at least $least expected"
		return 1
	fi
}

# At least LEAST instructions of the trace ran in the host or a guest, or none if LEAST is 0.
ran_in() { # host|guest LEAST
	local count

	count=$("$O/vpt" decode --side="$1" trace.vpt | awk '$1 == "instructions" && !n++ { print $2 + 0 }')
	echo "$1: ${count:-0} instructions"
	if [ "$2" -eq 0 ]; then
		[ "${count:-0}" -eq 0 ]
	else
		[ "${count:-0}" -ge "$2" ]
	fi
}

# Print a counter of the machine.
counter() { # NAME [FILE]
	awk -v name="$1" '$1 == name { print $2 }' "${2:-counters}"
}

# No trace went to the host's memory.
only_guest_buffers() {
	"$O/tests/testbed-import" --list oracle.log >list
	grep 'guest buffer' list
	if grep 'host buffer\|no session' list; then
		echo "trace is in the host's memory"
		return 1
	fi
}

# Each file has the trace of one VMCS, and each VMCS has a file.
same_by_vmcs() { # FILE...
	local all vmcs file found
	all=$("$O/tests/testbed-import" --list oracle.log | grep -o 'VMCS 0x[0-9a-f]*' | sort -u |
		cut -d' ' -f2)
	for file in "$@"; do
		found=
		for vmcs in $all; do
			"$O/tests/testbed-import" --buffer=guest --vmcs="$vmcs" --against="$file" \
				oracle.log || continue
			found=$vmcs
			break
		done
		[ -n "$found" ] || return 1
		all=$(grep -v "^$found$" <<<"$all" || true)
	done
	[ -z "$all" ]
}

# The log has the TSC offset and multiplier that the guest's program printed.
same_tsc() {
	local told

	told=$(tr -d '\r' <serial.log | sed -n 's/^tsc: \(TSC offset .*\)/\1/p')
	echo "$told"
	[ -n "$told" ] && "$O/vpt" info trace.vpt | grep -F "$told" >/dev/null
}
