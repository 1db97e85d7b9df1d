#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What becomes of the files of a user: inputs, earlier outputs, and what a killed run recorded.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
export LC_ALL=C
elf=$GUEST/calls.elf
long=$GUEST/bench_int.elf

# keeps NAME STATUS WORDS FILE VERB [ARG...]: the command is refused, and FILE is as it was.
keeps() {
	kp_file=$4
	cp "$kp_file" "$dir/copy"
	kp_name=$1 kp_status=$2 kp_words=$3
	shift 4
	refuses "$kp_name" "$kp_status" "$kp_words" "$@"
	tap_run "$kp_name: the file is as it was" cmp "$dir/copy" "$kp_file"
	cp "$dir/copy" "$kp_file"
}

# An output is never an input, whatever it is called.
cp "$elf" "$dir/g.elf"
cp "$elf" "$dir/initrd"
ln -s g.elf "$dir/soft"
ln "$dir/g.elf" "$dir/hard"
ln -s . "$dir/folder"
for name in g.elf ./g.elf soft hard folder/g.elf folder/soft; do
	keeps "the guest as the trace: $name" "$USAGE" "same file as GUEST" "$dir/g.elf" \
		run -q -o "$dir/$name" "$dir/g.elf"
done
# shellcheck disable=SC2094 # on purpose
keeps "an open descriptor of the guest as the trace" "$USAGE" "same file as GUEST" "$dir/g.elf" \
	run -q -o "$dir/g.elf" /dev/fd/3 3<"$dir/g.elf"
keeps "the guest as the snapshot" "$USAGE" "same file as GUEST" "$dir/g.elf" \
	run -q --engine=soft --snapshot="$dir/soft" --snapshot-at=100 "$dir/g.elf"
keeps "the initrd as the trace" "$USAGE" "same file as --initrd" "$dir/initrd" \
	run -q --initrd="$dir/initrd" -o "$dir/initrd" "$dir/g.elf"
refuses "the snapshot as the trace" "$USAGE" "same file as --output" run -q --engine=soft \
	--snapshot="$dir/x" --snapshot-at=100 -o "$dir/folder/x" "$elf"
refuses "the snapshot as the trace's part file" "$USAGE" "part file is --snapshot" run -q \
	--engine=soft --snapshot="$dir/x.part" --snapshot-at=100 -o "$dir/x" "$elf"
tap_empty "none of these made a file" "$(find "$dir" -name 'x*')"
tap_run "a snapshot" "$VPT" run -q --engine=soft --snapshot="$dir/s.vps" --snapshot-at=20000 \
	-o "$dir/s.vpt" "$elf"
ln -s s.vps "$dir/s.link"
keeps "restore: the snapshot as the trace" "$USAGE" "same file as FILE" "$dir/s.vps" \
	restore -q -o "$dir/s.link" "$dir/s.vps"
keeps "restore: over itself" "$USAGE" "same file as FILE" "$dir/s.vps" \
	restore -q --snapshot="$dir/s.vps" --snapshot-at=30000 -o "$dir/x.vpt" "$dir/s.vps"
tap_run "an RTIT trace" "$VPT" run -q --model=silvermont --pt=host -o "$dir/r.vpt" "$elf"
ln "$dir/r.vpt" "$dir/r.hard"
keeps "export: a trace onto itself" "$USAGE" "same file as FILE" "$dir/r.vpt" \
	export --to=pt "$dir/r.vpt" "$dir/r.hard"
tap_run "devices may be given twice" "$VPT" run -q --pt=host --initrd=/dev/null -o /dev/null "$elf"
tap_run "standard output" sh -c "\"$VPT\" run -q --pt=host -o - \"$elf\" 2>/dev/null | \"$VPT\" decode -q -"
tap_run "which is no file" test ! -e -
tap_run "a pipe" sh -c "'$VPT' run -q --pt=host -o /dev/fd/3 '$elf' 3>&1 >/dev/null | '$VPT' decode -q -"

# A command that is wrong leaves the earlier trace.
tap_run "a trace" "$VPT" run -q --oracle -o "$dir/keep.vpt" "$elf"
while read -r words options; do
	# shellcheck disable=SC2086 # a list of options
	keeps "an earlier trace and $options" "$USAGE" "$words" "$dir/keep.vpt" \
		run -q --pt=host $options -o "$dir/keep.vpt" "$elf"
done <<END
psb --psb=77
psb --model=bdw --psb=3
mtc --model=bdw --mtc=3
cyc --cyc=15
filter --filter=nowhere
cr3 --model=silvermont --cr3=0xffffffffffffffff
cyc-bits --model=silvermont --cyc-bits=9
usage --usage=guest --model=bdw --conceal=all --psb=9
END
keeps "an earlier trace and no such guest" "$INPUT" "No such file" "$dir/keep.vpt" \
	run -q -o "$dir/keep.vpt" "$dir/none.elf"
keeps "an earlier trace and a file that is no guest" "$INPUT" "ELF" "$dir/keep.vpt" \
	run -q -o "$dir/keep.vpt" "$dir/s.vpt"
keeps "restore: an earlier trace and a limit that is over" "$USAGE" "already reached" "$dir/keep.vpt" \
	restore -q --max-insns=1 -o "$dir/keep.vpt" "$dir/s.vps"
tap_empty "none of these left a part" "$(find "$dir" -name '*.part*' -o -name '.vpt-*')"

# One writer. The other process is told, and changes nothing. The writer stands still meanwhile: on a
# busy machine it could be through before.
"$VPT" run -q --pt=host --oracle --max-insns=100000000 --arg=1000000 -o "$dir/long.vpt" "$long" >"$dir/first" 2>&1 &
pid=$!
for _ in $(seq 500); do
	sleep 0.02
	[ "$(stat -c %s "$dir/long.vpt.part" 2>/dev/null || echo 0)" -lt 3000000 ] || break
done
kill -STOP $pid
refuses "two runs into one file" "$HOST" "another process is writing it, to .*/long.vpt.part" \
	run -q --pt=host -o "$dir/long.vpt" "$elf"
refuses "a trace that is being written" "$INPUT" "still being written" info "$dir/long.vpt"
kill -INT $pid
kill -CONT $pid
wait $pid
tap_run "the first run is not disturbed" "$VPT" verify -q "$dir/long.vpt"
tap_run "a part file that was completed has its name" test ! -e "$dir/long.vpt.part"

# kill -9 leaves what was recorded, under a name that is said.
# The first blocks can be the oracle's alone.
killed() { # FILE
	"$VPT" run -q --pt=host --oracle --max-insns=100000000 --arg=1000000 -o "$1" "$long" >/dev/null 2>&1 &
	pid=$!
	for _ in $(seq 1000); do
		sleep 0.02
		[ "$(stat -c %s "$1.part" 2>/dev/null || echo 0)" -lt 8000000 ] || break
	done
	kill -9 $pid
	wait $pid 2>/dev/null
}
killed "$dir/killed.vpt"
refuses "killed: the part is read in place of the trace" "$INPUT" \
	"killed.vpt.part: .*(cut off|without an END)" info "$dir/killed.vpt"
tap_run "killed: there is something in it" sh -c \
	"[ \$('$VPT' decode -i '$dir/killed.vpt' 2>/dev/null | wc -l) -gt 1000 ]"
tap_run "killed: the next run" sh -c "'$VPT' run -q --pt=host -o '$dir/killed.vpt' '$elf' 2>'$dir/said' >/dev/null"
tap_run "killed: it says where the part is now" grep -q \
	"^vpt run: .*/killed.vpt.part, .* is now .*/killed.vpt.part.1$" "$dir/said"
tap_run "killed: the next run's trace is whole" "$VPT" decode -q "$dir/killed.vpt"
refuses "killed: the earlier part" "$INPUT" "cut off|without an END" decode -q "$dir/killed.vpt.part.1"
cp "$dir/killed.vpt" "$dir/copy"
killed "$dir/killed.vpt"
tap_run "killed: the earlier trace is as it was" cmp "$dir/copy" "$dir/killed.vpt"
"$VPT" info "$dir/killed.vpt" >/dev/null 2>"$dir/said"
tap_run "killed: reading the earlier trace names the part" grep -q \
	"^vpt info: .*/killed.vpt: .* .*/killed.vpt.part" "$dir/said"
ln -s "$elf" "$dir/planted.vpt.part"
keeps "a link with the part's name" "$HOST" "planted.vpt.part is in the way" "$elf" \
	run -q -o "$dir/planted.vpt" "$elf"

# Links are followed, and stay.
ln -s real.vpt "$dir/link.vpt"
tap_run "a link to no file" "$VPT" run -q -o "$dir/link.vpt" "$elf"
tap_run "a link to an earlier file" "$VPT" run -q -o "$dir/link.vpt" "$elf"
tap_run "the link stays" test -h "$dir/link.vpt"
tap_run "its file is the trace" "$VPT" decode -q "$dir/real.vpt"

# Snapshots: nothing is written through a link, and what is written is private.
echo precious >"$dir/victim"
ln -s victim "$dir/x.vps.part"
tap_run "a snapshot beside a planted link" "$VPT" run -q --engine=soft --snapshot="$dir/x.vps" \
	--snapshot-at=20000 "$elf"
tap_run "the link's file is as it was" test "$(cat "$dir/victim")" = precious
tap_run "the snapshot is there" "$VPT" snapshot "$dir/x.vps"
(umask 0 && "$VPT" run -q --engine=soft --snapshot="$dir/m.vps" --snapshot-at=20000 \
	-o "$dir/m.vpt" "$elf" && "$VPT" export -q --to=pt "$dir/r.vpt" "$dir/m.pt.vpt") >/dev/null
tap_empty "files are private whatever the umask is" \
	"$(cd "$dir" && stat -c '%a %n' m.* | grep -v '^600 ')"
# A directory appears when it is complete.
tap_run "an export" sh -c "umask 0; '$VPT' export -q --to=perf '$dir/m.vpt' '$dir/perf'"
tap_empty "an export is private" "$(find "$dir/perf" -type d ! -perm 700 -o -type f ! -perm 600)"
tap_run "an export has what perf opens" test -s "$dir/perf/data"
refuses "an export onto another" "$HOST" "File exists" export -q --to=perf "$dir/m.vpt" "$dir/perf"
tap_run "an export onto another: it is as it was" test -s "$dir/perf/data"
# shellcheck disable=SC2016 # expanded by the inner shell
refuses_as "an export that fails" "$HOST" "File too large" export \
	sh -c 'ulimit -f 1 && exec "$@"' sh "$VPT" export -q --to=perf "$dir/m.vpt" "$dir/perf2"
tap_run "an export that fails leaves nothing" test ! -e "$dir/perf2"
tap_empty "no temporary file stays" "$(find "$dir" -name '.vpt-*')"
tap_end
