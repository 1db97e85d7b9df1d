#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Compare the processor time of each row of tests/bench/rows with that of another commit.
#
# usage: against.sh BASE [ROW...]     BASE: a commit; ROW: the start of rows' names
#
# Each row is measured in turn for the base, this tree, and the base once more, in
# BENCH_AGAINST_ROUNDS=11 rounds over all rows; the minimum of each counts. What the two
# measurements of the base differ by is the A/A spread. A row fails if this tree is slower
# than the mean of both by more than 2 % and by more than twice the spread.
#
# Every measurement is a line of a ledger in build/bench-against, named after the programs
# that are measured: an interrupted run is resumed by the same command. Prints a table and
# writes build/bench-against.json.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck disable=SC2034 # of lib.sh
tool=bench-against from=$PWD
tree=$PWD
ours=${O:-build/rel}
[[ $ours == /* ]] || ours=$tree/$ours
jobs=${JOBS:-1}
# shellcheck source=patches/tools/lib.sh
. patches/tools/lib.sh
rounds=${BENCH_AGAINST_ROUNDS:-11}
# A measurement takes at least so many microseconds.
least=250000

[ $# -ge 1 ] || fail "which commit? make bench-against BASE=COMMIT"
base=$(git rev-parse -q --verify "$1^{commit}") || fail "$1 is no commit"
shift

# The base, built in a folder of the cache.
build() { # DIR
	say "building $base"
	begin_log bench.log
	git archive "$base" | tar -x -C "$1"
	logged bench.log "the base does not build" make -C "$1" -s -j"$jobs" CC="$(compiler)" all
}
compiler() { if command -v ccache >/dev/null; then echo "ccache gcc"; else echo gcc; fi; }
cached bench "${base:0:16}" build
# shellcheck disable=SC2154 # set by cached
theirs=$entry/build/rel

# A change anywhere moves all code behind it, which alone makes some rows several percent
# faster or slower. So each round measures programs of another layout, both sides alike: they
# are linked with so many bytes before their code.
pad_of() { echo $((16 * ($1 - 1) + 64 * ($1 * 29 % 61))); } # ROUND

variable() { # TREE NAME: of its Makefile
	make -C "$1" -pnq 2>/dev/null | sed -n "s/^$2 :\?= //p" | head -n 1
}

# Link vpt, and the generator's rows, which use nothing but the public interface: the same
# source for both sides.
link_layouts() { # TREE OBJECTS DIR
	local round flags libs
	flags=$(variable "$1" LDFLAGS)
	libs=$(variable "$1" VMM_LIBS)
	rm -rf "$3"
	mkdir -p "$3"
	for source in rows generate packets machine; do
		gcc -std=gnu11 -D_GNU_SOURCE -O2 -DNDEBUG -I"$1/shared/include" -Itests -c \
			-o "$3/$source.o" tests/bench/$source.c ||
			fail "the generator's rows do not build with $1"
	done
	for ((round = 1; round <= rounds; round++)); do
		echo ".text; .skip $(pad_of $round), 0x90; .section .note.GNU-stack" | gcc -c -x assembler -o "$3/pad.o" -
		# shellcheck disable=SC2086 # lists of flags
		gcc $flags -s -o "$3/vpt.$round" "$3/pad.o" "$2/vmm/main.o" "$2/libvmm.a" "$2/libvpt.a" $libs &&
			gcc $flags -s -o "$3/rows.$round" "$3"/{pad,rows,generate,packets,machine}.o \
				"$2/libvpt.a" -lipt || fail "the programs of $1 do not link"
	done
}
work=build/bench-against
link_layouts "$entry" "$theirs" $work/base
link_layouts "$tree" "$ours" $work/new
key=$(cat tests/bench/rows $work/base/{vpt,rows}.1 $work/new/{vpt,rows}.1 | sha256sum | cut -c1-12)
ledger=$tree/$work/${base:0:12}-$key.ledger
guest=$theirs/guest

# The programs of a side: base, new, or again, which is the base.
side() { # SIDE ROUND: sets vpt, rows and dir
	local name=$1
	[ "$name" != again ] || name=base
	dir=$tree/$work/$name
	# shellcheck disable=SC2034 # used by the rows
	rows=$dir/rows.$2
	vpt=$dir/vpt.$2
}

# The traces that the rows read, by each side; and those of the base for both.
setup() {
	local name
	for name in base new; do
		side $name 1
		cd "$dir"
		rm -rf ./*.vpt old
		"$vpt" run -q --engine=soft --pt=host --oracle --arg=40 -o long.vpt "$guest/quicksort.elf"
		"$vpt" run -q --engine=soft --pt=host --oracle -o demo.vpt "$guest/demo.elf"
		"$vpt" run -q --engine=soft --pt=host --tsc --mtc --cyc -o time.vpt "$guest/calls.elf"
		"$vpt" run -q --engine=soft --pt=host --oracle -o jit.vpt "$guest/jit.elf"
		"$vpt" run -q --engine=soft --pt=host --oracle -o kernelmix.vpt "$guest/kernelmix.elf"
		"$vpt" run -q --engine=soft --pt=host --oracle -o processes.vpt "$guest/processes.elf"
		"$vpt" run -q --engine=soft --pt=host --trace=rtit --oracle --arg=50 -o rtit.vpt "$guest/quicksort.elf"
		ln -sfn ../base old
	done >/dev/null 2>&1
	cd "$tree"
}

measure() { # SIDE ROUND TIMES COMMAND: prints microseconds
	# shellcheck disable=SC2034 # the row uses them
	local dir rows vpt words
	side "$1" "$2"
	eval "words=($4)"
	(cd "$dir" && "$ours/tests/cputime" "$3" "${words[@]}") || fail "it does not run: $4"
}

# How often a row's command runs in one measurement; measured once, for all sides.
times_of() { # ROW COMMAND
	local times us
	times=$(awk -F '\t' -v row="$1" '$1 == row && $3 == "times" { print $4 }' "$ledger")
	if [ -z "$times" ]; then
		us=$(measure base 1 1 "$2")
		times=$(((least + us) / (us + 1)))
		[ "$times" -ge 1 ] || times=1
		printf '%s\t0\ttimes\t%s\n' "$1" "$times" >>"$ledger"
	fi
	echo "$times"
}

is_wanted() { # ROW NAME...
	local row=$1 name
	shift
	[ $# -gt 0 ] || return 0
	for name in "$@"; do [[ $row != "$name"* ]] || return 0; done
	return 1
}

has() { # ROW ROUND SIDE
	grep -qF "$1"$'\t'"$2"$'\t'"$3"$'\t' "$ledger"
}

touch "$ledger"
setup
say "ledger: ${ledger#"$tree"/}, $(wc -l <"$ledger") lines"
for ((round = 1; round <= rounds; round++)); do
	while IFS=$'\t' read -r row command; do
		is_wanted "$row" "$@" || continue
		times=$(times_of "$row" "$command")
		for name in base new again; do
			has "$row" $round $name || {
				us=$(measure $name $round "$times" "$command")
				printf '%s\t%s\t%s\t%s\n' "$row" $round $name "$us" >>"$ledger"
			}
		done
	done < <(grep -v '^#' tests/bench/rows)
	[ ! -t 2 ] || printf '\rround %d of %d' $round "$rounds" >&2
done
[ ! -t 2 ] || echo >&2

tests/bench/verdict.py tests/bench/rows "$ledger" "${base:0:12}" "$rounds" build/bench-against.json
