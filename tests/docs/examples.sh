#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run every example of README.md, docs/, the manual pages and --help, and compare its output
# with what the document shows.
#
# usage: examples.sh [TARGET]     run the examples that make check runs, or those of TARGET
#        examples.sh --list       list every example and what runs it
#        examples.sh --update     write the output shown in Markdown files anew
#
# The examples of one document run in order, in one folder of their own. There build/rel is
# what is tested, vpt is in the path, and each payload of the tree is there as PAYLOAD.elf.
# An example must end with status 0; with N if its comment says "exit status N"; with 1 if it
# shows a line "error: ...".
#
# given      what a document's text says is there: a command that makes it
# samples    output shown without its command: the command that must print it
# elsewhere  examples that make check does not run: the target that does, or why none can
#
# EXAMPLES_OF='GLOB...' takes other documents than all, and no --help. CODE_RAN=FILE is a file
# that exists if the caller has run the code of docs/qemu.md.
#
# A line of these files that no example needs is a failure. An example "make TARGET" is not
# run, but for make install: TARGET must be one that make help lists.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh
tree=$PWD
O=${O:-build/${MODE:-rel}}
given=$O
[[ $O == /* ]] || O=$tree/$O
here=$tree/tests/docs
mode=run
target=
case ${1-} in
--list | --update) mode=${1#--} ;;
*) target=${1-} ;;
esac

# Seconds for the examples of a document; other targets decode whole boots.
limit=100
[ -z "$target" ] || limit=3600

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export VPT_CACHE=${VPT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vpt}
export HOME=$work/home LC_ALL=C PATH=$work/bin:$O:$PATH
mkdir "$work/home" "$work/bin"
# make is called in the tree, and builds nothing.
printf '#!/bin/sh\nunset MAKEFLAGS MAKELEVEL\nexec %s -s -C "%s" MODE=%s O="%s" "$@"\n' \
	"$(command -v make)" "$tree" "${MODE:-rel}" "$given" >"$work/bin/make"
cat >"$work/bin/holds" <<END
#!/bin/sh
cat "\$@" >part && '$here/document.py' match --part "\$EXAMPLE" part
END
chmod +x "$work/bin/make" "$work/bin/holds"

# Lines of one of the lists, without comments.
list() { # given|samples|elsewhere
	grep -v '^#' "$here/$1"
}

# Writes the index of all examples, and their parts below $work/parts.
extract() {
	local file verb format text number=0
	mkdir "$work/parts"
	{
		# shellcheck disable=SC2086 # a list of globs
		.ci/files ${EXAMPLES_OF:-README.md docs/*.md docs/man/*}
		[ -n "${EXAMPLES_OF-}" ] || for verb in '' $("$O/vpt" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'); do
			echo "vpt${verb:+ $verb} --help"
		done
	} >"$work/documents"
	while IFS= read -r file; do
		number=$((number + 1))
		case $file in
		*.md) format=md ;;
		docs/man/*) format="man" ;;
		*) format=help ;;
		esac
		text=$file
		if [ $format = help ]; then
			text=$work/parts/$number.help
			$file >"$text"
		fi
		printf '%s\t%s\t%02d.\t%s\n' $format "$file" $number "$text"
	done <"$work/documents" | "$here/document.py" extract "$work/parts" >"$work/index"
}

# What runs an example: check (this), make, sample, a line of elsewhere, or nothing.
classify() {
	list elsewhere >"$work/elsewhere"
	list samples >"$work/samples"
	awk -F '\t' -v OFS='\t' '
	FILENAME ~ /elsewhere$/ { elsewhere[$1 FS $2] = $3; next }
	FILENAME ~ /samples$/ { samples[$1 FS $2] = $3; next }
	{
		file = $3
		sub(/:[0-9]*$/, "", file)
		at = file FS $4
		if (at in elsewhere)
			by = elsewhere[at]
		else if (at in samples)
			by = "sample"
		else if ($2 == "run" && $4 ~ /^make( |$)/ && $4 !~ /^make install /)
			by = "make"
		else if ($2 == "run")
			by = "check"
		else
			by = "nothing"
		print $1, $2, $3, by, $4
		seen[at] = 1
	}
	END {
		for (at in elsewhere)
			if (!(at in seen))
				print "-", "-", "elsewhere", "stale", at
		for (at in samples)
			if (!(at in seen))
				print "-", "-", "samples", "stale", at
	}' "$work/elsewhere" "$work/samples" "$work/index" >"$work/classes"
}

# A folder as an example finds it.
make_folder() { # DIR
	mkdir -p "$1/build"
	ln -s "$O" "$1/build/rel"
	ln -s "$O"/guest/*.elf "$tree"/{docs,guest,patches,shared,tests,vmm} "$1/"
}

# Runs commands in one shell, each with its output and status apart.
#   reads: ID and KIND of each; takes ID.cmd from $work/parts
run_script() { # DIR
	local id kind machine='' commands=''
	{
		while read -r id kind; do
			[ "$kind" != guest ] || commands="$commands $work/parts/$id.cmd"
			[ "$kind" = run ] || continue
			[ -z "$machine" ] || print_step "$machine" "$commands"
			machine=$id
			commands=''
		done
		[ -z "$machine" ] || print_step "$machine" "$commands"
	} >"$1.script"
	(cd "$1" && timeout "$limit" bash -o pipefail "$1.script") >"$1.log" 2>&1
}

# A command as a step of a script; with commands for a guest, it starts the machine.
print_step() { # ID COMMANDS
	local command
	command=$(cat "$work/parts/$1.cmd")
	[ -z "$2" ] || command="'$here/in-guest' '$work/parts/$1.cmd'$2"
	printf '{\n%s\n} >%s 2>&1 </dev/null\necho $? >%s\n' "$command" \
		"'$work/parts/$1.got'" "'$work/parts/$1.status'"
}

# The examples of one document that TARGET runs.
run_document() { # NUMBER DOCUMENT
	local dir=$work/$1 given
	make_folder "$dir"
	list given | awk -F '\t' -v name="${target:+$target:}$2" '$1 == name { print $2 }' >"$dir.given"
	(cd "$dir" && timeout 100 sh -e "$dir.given") >"$dir.given.log" 2>&1 || {
		tap_fail "$2: what is given" "$(tail -n 5 "$dir.given.log")"
		return
	}
	awk -F '\t' -v by="${target:-check}" -v number="$1." \
		'index($1, number) == 1 && $4 == by { print $1, $2 }' "$work/classes" | run_script "$dir"
	[ -n "$target" ] || run_samples "$1" "$dir"
}

# The command that proves a sample, in the same folder.
run_samples() { # NUMBER DIR
	local id at key
	while IFS=$'\t' read -r id _ at _ key; do
		awk -F '\t' -v name="${at%:*}" -v key="$key" '$1 == name && $2 == key { print $3 }' \
			"$work/samples" >"$work/parts/$id.cmd"
		(cd "$2" && EXAMPLE=$work/parts/$id.want timeout 100 sh "$work/parts/$id.cmd") \
			>"$work/parts/$id.got" 2>&1 </dev/null
		echo $? >"$work/parts/$id.status"
	done < <(awk -F '\t' -v number="$1." 'index($1, number) == 1 && $4 == "sample"' "$work/classes")
}

# Compares the output of all examples in one process. ID.wrong is empty where it is right.
compare() {
	awk -F '\t' -v by="${target:-check}" '
	$4 == by && $2 == "run" { print $1 }
	by == "check" && $4 == "sample" && $2 != "code" { print $1, "--part" }' "$work/classes" |
		while read -r id part; do
			[ ! -e "$work/parts/$id.want" ] || [ ! -e "$work/parts/$id.got" ] || echo "$id $part"
		done | "$here/document.py" judge "$work/parts"
}

# The status that an example must end with, as $wanted.
want_status() { # ID
	local command shown=''
	command=$(<"$work/parts/$1.cmd")
	[ ! -e "$work/parts/$1.want" ] || shown=$(<"$work/parts/$1.want")
	wanted=0
	if [[ $command =~ '# '[^$'\n']*'exit status '([0-9]+) ]]; then
		wanted=${BASH_REMATCH[1]}
	elif [[ $'\n'$shown == *$'\nerror: '* ]]; then
		wanted=1
	fi
}

judge_run() { # ID NAME KIND
	local got=$work/parts/$1.got want=$work/parts/$1.want wrong=$work/parts/$1.wrong status=none wanted
	[ ! -e "$work/parts/$1.status" ] || status=$(<"$work/parts/$1.status")
	# A reader such as head may leave the rest unread.
	[ "$status" != 141 ] || status=0
	if [ "$target" = check-docs ] && [ "$status" = 4 ] && ! { [ -r /dev/kvm ] && [ -w /dev/kvm ]; }; then
		tap_skip "$2" "/dev/kvm is missing, or not to be opened by $(id -un)"
		return
	fi
	want_status "$1"
	if [ "$status" != "$wanted" ]; then
		tap_fail "$2" "exit status $status
$(tail -n 5 "$got" 2>/dev/null)"
	elif [ -e "$want" ] && [ "$3" = run ] && ! { [ -e "$wrong" ] && [ ! -s "$wrong" ]; }; then
		tap_fail "$2" "$(cat "$wrong" 2>&1)
make figures writes the output shown anew"
	else
		tap_ok "$2"
	fi
}

judge() { # ID KIND AT BY KEY
	local name="$3: $5"
	case $4,$2 in
	check-qemu,code) [ "$target" != check-qemu ] || tap_run "$name" test -s "${CODE_RAN-}" ;;
	"${target:-check}",*) judge_run "$1" "$name" "$2" ;;
	*) [ -z "$target" ] || return ;;&
	sample,*)
		if [ "$2" = code ]; then
			judge_run "$1" "$name" code
		else
			tap_empty "$name" "$(cat "$work/parts/$1.wrong" 2>&1)"
		fi
		;;
	make,*)
		if make_target_exists "$5"; then tap_ok "$name"; else
			tap_fail "$name" "make help lists no such target"
		fi
		;;
	stale,*) tap_fail "tests/docs/$3: $5" "no document has this example" ;;
	nothing,*)
		tap_fail "$name" "not run by anything: $2; see tests/docs/examples.sh"
		;;
	esac
}

# The targets that make help lists, each between blanks.
targets=" $(sed -n 's/^#?   make \([^ ]*\).*/\1/p' Makefile ./*/build.mk patches/*/build.mk | tr '\n' ' ')"

make_target_exists() { # COMMAND
	local word words
	read -ra words <<<"$1"
	for word in "${words[@]:1}"; do
		[[ $word != *=* ]] || continue
		[[ $targets == *" $word "* ]]
		return
	done
}

# Every line of elsewhere names a target, and says why.
judge_elsewhere() {
	local name key by why
	while IFS=$'\t' read -r name key by why; do
		[ "$by" = none ] || make_target_exists "make $by" ||
			tap_fail "tests/docs/elsewhere: $name: $key" "$by is no target of make"
		[ -n "$why" ] || tap_fail "tests/docs/elsewhere: $name: $key" "no reason"
	done <"$work/elsewhere"
	while IFS=$'\t' read -r name key; do
		grep -qxF "${name#*:}" "$work/documents" ||
			tap_fail "tests/docs/given: $name" "there is no such document"
	done < <(list given)
}

# Writes anew what Markdown files show and is no longer so; the last example first, so that
# line numbers stay right.
renew() {
	local id at file
	awk -F '\t' '$4 == "check" && $3 ~ /\.md:/ { print $1, $3 }' "$work/classes" | sort -r |
		while read -r id at; do
			file=${at%:*}
			[ -e "$work/parts/$id.want" ] || continue
			"$here/document.py" match "$work/parts/$id.want" "$work/parts/$id.got" >/dev/null && continue
			"$here/document.py" renew "${at##*:}" "$work/parts/$id.got" "$file" \
				>"$work/renewed" && cat "$work/renewed" >"$file" && echo "$at"
		done
}

extract
classify
if [ "$mode" = list ]; then
	awk -F '\t' '{ printf "%-14s %-40s %s\n", $4, $3, $5 }' "$work/classes"
	exit
fi
# Documents without an example to be run need no folder.
busy=$(awk -F '\t' -v by="${target:-check}" '
	$4 == by || by == "check" && $4 == "sample" { sub(/[.].*/, "", $1); print $1 }' "$work/classes" | sort -u)
count=0
while IFS= read -r document; do
	count=$((count + 1))
	[[ $'\n'$busy$'\n' == *$'\n'$(printf '%02d' $count)$'\n'* ]] || continue
	run_document "$(printf '%02d' $count)" "$document"
done <"$work/documents"
[ -n "$target" ] || {
	echo "<!-- SPDX-License-Identifier: GPL-2.0-or-later -->"
	vpt export -q --to=svg "$work/01/build/demo.vpt" -
} >"$work/demo.svg"
if [ "$mode" = update ]; then
	renew
	cp "$work/demo.svg" docs/demo.svg
	exit
fi
# The picture in README.md is drawn from the trace that its examples leave.
[ -n "$target" ] || tap_run "docs/demo.svg: make figures draws it anew" cmp "$work/demo.svg" docs/demo.svg
compare
while IFS=$'\t' read -r id kind at by key; do
	judge "$id" "$kind" "$at" "$by" "$key"
done <"$work/classes"
[ -n "$target" ] || judge_elsewhere
tap_end
