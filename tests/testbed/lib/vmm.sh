# SPDX-License-Identifier: GPL-2.0-or-later
# Functions for scenarios in which our own VMM runs inside the machine.
# shellcheck shell=bash

# Print the files of payloads.
vmm_payloads() { # NAME...
	printf 'guest/%s.elf ' "$@"
}

# Print vpt, its shared libraries and payloads for `files`. There are no libraries before vpt is
# built.
vmm_files() { # NAME...
	ldd "$O/vpt" 2>/dev/null | grep -o '/[^ ]*'
	echo "$O/vpt"
	printf "$O/guest/%s.elf\n" "$@"
}

# Print one line for each instruction and event of a trace. Names are removed, because only a
# file with ELF images has them.
vmm_flow() { # FILE
	"$O/vpt" decode --insn "$1" |
		sed -e '1d; /^-- in /d; s/ <[^>]*>//g' -e 's/^\([0-9a-f]\{16\}\).*/\1/'
}

# Print a range "A-B" of sessions for the run of each payload, in the log's order. A run ends where the sessions
# have as many bytes as its trace. The last one has all that follow. The VMCS of a run can be at the address of the
# one before, and does not tell them apart.
vmm_runs() { # NAME...
	local name sizes=""
	for name in "$@"; do
		sizes="$sizes $("$O/vpt" info "$name.vpt" | sed -n 's/^vCPU 0 *trace: \([0-9]*\) bytes.*/\1/p')"
	done
	"$O/tests/testbed-import" --list oracle.log |
		sed -n 's/^session \([0-9]*\):.* VMCS 0x[0-9a-f]*,.* trace: \([0-9]*\) bytes,.*/\1 \2/p' |
		awk -v sizes="$sizes" 'BEGIN { runs = split(sizes, size); run = 1; first = -1 }
			{ if (first < 0) first = $1; bytes += $2; end = $1 }
			run < runs && bytes >= size[run] { print first "-" end; first = -1; bytes = 0; run++ }
			END { if (first >= 0) print first "-" end }'
}

# Make NAME.oracle.vpt of these sessions, and verify it.
vmm_import() { # NAME RANGE [OPTION...]
	local name=$1 range=$2
	shift 2
	"$O/tests/testbed-import" --sessions="$range" "$@" -o "$name.oracle.vpt" oracle.log
	"$O/vpt" verify "$name.oracle.vpt" >line
	echo "$name: $(cat line)"
}

# NAME.vpt has the bytes of these sessions, and decodes to the instructions that retired. Adds to
# `instructions` and `mismatches`.
vmm_same() { # NAME RANGE
	vmm_import "$1" "$2" --against="$1.vpt"
	mismatches=$((mismatches + $(sed -n 's/.* \([0-9]*\) mismatches.*/\1/p' line)))
	vmm_flow "$1.oracle.vpt" >"$1.is"
	vmm_flow "$1.vpt" >"$1.has"
	cmp "$1.is" "$1.has"
	instructions=$((instructions + $(grep -c '^[0-9a-f]\{16\}' "$1.has")))
}
