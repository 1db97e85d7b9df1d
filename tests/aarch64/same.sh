#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What vpt prints and writes on aarch64 is what it prints and writes on x86-64, byte for byte: every
# verb that reads traces, on the files of earlier versions and on traces that the x86-64 build records.
# usage: O=DIR CROSS=DIR same.sh    O has the x86-64 build, and CROSS the other build
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
O=${O:-build/${MODE:-rel}}
here=$(realpath "$O/vpt")
there="${RUN:-qemu-aarch64} $(realpath "${CROSS:-build/aarch64}/vpt")"
formats=$(sed -n 's/^FORMAT(\([a-z]*\),.*/\1/p' vmm/formats/formats.def)
outputs=0
bytes=0
traces=0

# Arguments of vpt for a trace t.vpt, a command a line; out is a file or folder that it writes.
commands() {
	printf '%s\n' 'decode t.vpt' 'decode -i t.vpt' 'decode -i -j t.vpt' 'decode -i -l -n 3000 t.vpt' \
		'decode -b t.vpt' 'decode -b -T t.vpt' 'decode -t t.vpt' 'decode -t -T -a t.vpt' \
		'decode -T -a t.vpt' 'decode -g t.vpt' 'decode -j t.vpt' 'decode -i -J2 t.vpt' \
		'decode -i --last=50 t.vpt' 'decode -i --from=500 --until=600 t.vpt' \
		'decode --cpu=6/142 -b t.vpt' 'dump t.vpt' 'dump -j t.vpt' 'dump -s t.vpt' 'info t.vpt' \
		'info -j t.vpt' 'verify t.vpt' 'verify -j t.vpt' 'diff t.vpt other.vpt' \
		'report -o out t.vpt' 'pack -o out t.vpt' 'export -q --to=pt t.vpt out' \
		'export -q --to=perf t.vpt out'
	for format in $formats; do
		echo "export -q --to=$format t.vpt out"
	done
}

# perform SIDE VPT ARGUMENTS: leave the output, the errors, the status and what was written in SIDE.
perform() {
	side=$dir/$1
	rm -rf "$dir/out" "$side"
	mkdir "$side"
	# shellcheck disable=SC2086 # command lines
	(cd "$dir" && $2 $3 >"$side/stdout" 2>"$side/stderr" </dev/null; echo $? >"$side/status")
	[ ! -e "$dir/out" ] || mv "$dir/out" "$side/out"
}

# compare NAME: every command on $dir/t.vpt, on both hosts. One test.
compare() {
	wrong=
	done=0
	commands >"$dir/commands"
	while read -r arguments; do
		perform here "$here" "$arguments"
		perform there "$there" "$arguments"
		difference=$(diff -r "$dir/here" "$dir/there" 2>&1 | head -n 5)
		[ -z "$difference" ] || wrong="$wrong
vpt $arguments:
$difference"
		# A command that refuses the file compares only a message. A file that ends early is
		# status 3 with output.
		case $(cat "$dir/here/status") in
		2 | 4) ;;
		*) [ ! -s "$dir/here/stdout" ] && [ ! -e "$dir/here/out" ] || done=$((done + 1)) ;;
		esac
		bytes=$((bytes + $(find "$dir/here" -type f -exec cat '{}' + | wc -c)))
	done <"$dir/commands"
	[ "$done" -ge 15 ] || wrong="$wrong
only $done commands did their work"
	tap_empty "$1: $(wc -l <"$dir/commands") commands" "$wrong"
	outputs=$((outputs + done))
	traces=$((traces + 1))
}

record() { # FILE PAYLOAD OPTION...
	to=$1
	payload=$2
	shift 2
	rm -f "$to"
	"$here" run -q --engine=soft --oracle "$@" -o "$to" "$O/guest/$payload.elf" >/dev/null 2>&1 </dev/null
	[ -s "$to" ]
}

record "$dir/other.vpt" demo --pt=guest --model=skl || tap_fail "a trace to compare others with"
for file in tests/cli/compat/files/*.vpt.gz; do
	gzip -dc "$file" >"$dir/t.vpt"
	compare "$(basename "$file" .vpt.gz)"
done
while read -r payload options; do
	# shellcheck disable=SC2086 # options
	if record "$dir/t.vpt" "$payload" $options; then
		compare "$payload $options"
	else
		tap_fail "$payload $options" "vpt run wrote no trace"
	fi
done <tests/aarch64/traces
tap_run "at least 25 traces were compared" test "$traces" -ge 25
tap_run "at least 600 outputs were compared" test "$outputs" -ge 600
echo "# $traces traces, $outputs outputs, $bytes bytes"
tap_end
