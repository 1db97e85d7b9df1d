# SPDX-License-Identifier: GPL-2.0-or-later
# What the trace of programs/steps.c must show. For verify().
# shellcheck shell=bash disable=SC2154 # O, root

# Decode DATA, as steps.py says, to DATA.steps. perf looks for the program where the guest
# had it.
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

# Instructions of steps(COUNT), COUNT a multiple of 8, without the one that repeats.
steps_length() { # COUNT
	echo $((12 * $1 + $1 / 2 + 7))
}

# All of it, and nothing else: each of THREADS made COUNT steps, none left out, none twice.
steps_exact() { # DATA COUNT [THREADS]
	[ "$(value_of "$1" errors) $(value_of "$1" gaps)" = "0 0" ]
	value_of "$1" thread | awk -v count="$2" -v inside="$(steps_length "$2")" -v threads="${3:-1}" '
		$2 != count || $3 || $4 != inside { print "thread " $1 " is not complete"; bad = 1 }
		END { exit bad || NR != threads }'
	value_of "$1" instructions | sed 's/^/instructions /'
}

# A part of it: at least LEAST steps, in at most PIECES pieces without a break.
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

# Records of DATA that say that trace was lost.
truncated() { # DATA
	perf script -i "$1" --itrace=e -D 2>/dev/null | grep -c 'PERF_RECORD_AUX .* \[T' || :
}
