# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of verify() that check traces of programs/steps.
# shellcheck shell=bash disable=SC2154 # O, root

# Decode DATA with steps.py to DATA.steps. perf looks for the program at the guest's path.
steps_decode() { # DATA [ARG-OF-PERF-SCRIPT...]
	local data=$1
	shift
	[ -e "$data" ]
	mkdir -p symfs/scenario
	ln -sf "$O/qemu/programs/steps" symfs/scenario/steps
	ln -sfn /usr symfs/usr
	nm "$O/qemu/programs/steps" >steps.symbols
	perf script -i "$data" --symfs "$PWD/symfs" --itrace=i0nse -F tid,ip "$@" 2>"$data.stderr" |
		"$root/tests/qemu/lib/steps.py" steps.symbols >"$data.steps"
	sed "s/^/$data: /" "$data.steps"
}

value_of() { # DATA WHAT
	sed -n "s/^$2 //p" "$1.steps"
}

# Print the number of instructions of COUNT steps in PARTS without the one that can repeat. A part has
# a multiple of 8 steps.
steps_length() { # COUNT [PARTS]
	echo $((12 * $1 + $1 / 2 + 7 * ${2:-1}))
}

# The trace is complete: each of THREADS made COUNT steps in PARTS, without a missing or repeated one.
steps_exact() { # DATA COUNT [THREADS [PARTS]]
	[ "$(value_of "$1" errors) $(value_of "$1" gaps)" = "0 0" ]
	value_of "$1" thread | awk -v count="$2" -v inside="$(steps_length "$2" "${4:-1}")" -v threads="${3:-1}" '
		$2 != count || $3 || $4 != inside { print "thread " $1 " is not complete"; bad = 1 }
		END { exit bad || NR != threads }'
	value_of "$1" instructions | sed 's/^/instructions /'
}

# The trace has a part of COUNT steps: at least LEAST of them, in at most PIECES unbroken pieces.
steps_partial() { # DATA COUNT LEAST PIECES
	[ "$(value_of "$1" errors)" = 0 ]
	value_of "$1" thread | awk -v count="$2" -v least="$3" -v pieces="$4" '
		$2 >= count || $2 < least || $3 >= pieces {
			print "thread " $1 " has " $2 " steps in " $3 + 1 " pieces"
			bad = 1
		}
		END { exit bad || NR != 1 }'
	value_of "$1" instructions | sed 's/^/instructions /'
}

# Print the number of records of DATA that report lost trace.
truncated() { # DATA
	perf script -i "$1" --itrace=e -D 2>/dev/null | grep -c 'PERF_RECORD_AUX .* \[T' || :
}
