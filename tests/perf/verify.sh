#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt verify --with=perf: perf has the instructions that ran, and what it has wrong is seen.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
mkdir "$dir/tmp" "$dir/bin"
export TMPDIR="$dir/tmp"

trace() { # PAYLOAD [OPTION...]: $dir/t.vpt
	tr_name=$1
	shift
	rm -f "$dir/t.vpt"
	"$VPT" run -q --engine=soft --oracle --max-insns=200000 "$@" -o "$dir/t.vpt" \
		"$GUEST/$tr_name.elf" >/dev/null 2>&1 </dev/null
}

same() { # PAYLOAD [OPTION...]
	trace "$@"
	sa_said=$("$VPT" verify --with=perf "$dir/t.vpt" 2>&1)
	sa_status=$?
	case $sa_status,$sa_said in
	"0,"*"verify: "[1-9]*" retired, "[1-9]*" decoded, 0 mismatches") tap_ok "$*" ;;
	*) tap_fail "$*" "$sa_status $sa_said" ;;
	esac
}

same calls
same jit
same exceptions --pt=host --tsc --mtc --cyc
same compat --pt=host --buffer=256:64
same topa_stop
same processes --pt=host --no-retc
same calls --model=silvermont --pt=host

# What is in place of perf.
differs() { # WHAT STATUS PATTERN SCRIPT
	printf '#!/bin/sh\n%s\n' "$4" >"$dir/bin/perf"
	chmod +x "$dir/bin/perf"
	df_said=$(PATH="$dir/bin:$PATH" "$VPT" verify --with=perf "$dir/t.vpt" 2>&1)
	df_status=$?
	if [ $df_status -eq "$2" ] && echo "$df_said" | grep -q "$3"; then
		tap_ok "$1"
	else
		tap_fail "$1" "$df_status $df_said"
	fi
}
trace calls
perf=$(command -v perf)
differs "an instruction is missing" 1 "perf has 0x.*, and it is 0x" "$perf \"\$@\" | sed 1000d"
differs "one is another" 1 "instruction 999: perf has 0x1234," "$perf \"\$@\" | sed '1000s/.*/ 1234/'"
differs "one is there twice" 1 "instruction 1000: perf has" "$perf \"\$@\" | sed 1000p"
differs "the last is missing" 1 "perf has none; it is 0x" "$perf \"\$@\" | sed '\$d'"
differs "one more at the end" 1 "perf has one more, 0x1234" "$perf \"\$@\"; echo ' 1234'"
differs "an error" 1 "perf says: instruction trace error" "echo ' instruction trace error'"
differs "nothing" 1 "perf has none" :
differs "perf fails" 4 "perf has failed" "exit 1"
trace calls --pt=host --buffer=256:64
differs "lost packets: one is another" 1 "did not run there" "$perf \"\$@\" | sed '1000s/.*/ 1234/'"

vpt=$(realpath "$VPT")
PATH=$dir/none "$vpt" verify --with=perf "$dir/t.vpt" >"$dir/out" 2>&1
tap_run "there is no perf" test $? -eq 4
tap_run "and it says so" grep -q "perf cannot be run: install linux-perf" "$dir/out"
refuses "a file without a name" "$USAGE" "must have a name" verify --with=perf -
refuses "no file" "$INPUT" "nothing.vpt" verify --with=perf "$dir/nothing.vpt"
tap_empty "no export is left" "$(ls "$TMPDIR")"
tap_end
