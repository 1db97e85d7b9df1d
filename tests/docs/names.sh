#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Names that the documents use exist: options of vpt, targets of make, linked files. The
# manual page and --help of each verb describe the same options.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh
O=${O:-build/${MODE:-rel}}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

verbs=$("$O/vpt" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')
documents=$(.ci/files '*.md' 'docs/man/*' | grep -v '^patches/.*\.patch$')

# The options that `vpt VERB --help` describes: lines that begin with one.
for verb in $verbs; do
	"$O/vpt" "$verb" --help | grep -oE '^ +(-[A-Za-z], )?--[a-z][a-z-]*(=[^ ]*)?(, --[a-z][a-z-]*)*' |
		grep -oE -- '--[a-z][a-z-]*' | sort -u >"$work/$verb.help"
	# Of the manual page: what heads a paragraph (.TP), or stands beside such a head.
	awk '/^\.(TP|TQ)$/ { head = 1; next } head { print } { head = 0 }' "docs/man/vpt-$verb.1" |
		sed 's/\\-/-/g; s/\\f.//g' | grep -oE -- '--[a-z][a-z-]*' | sort -u >"$work/$verb.man"
done

# As they are written, with letter and value: "-o, --output=FILE". In a manual page one head can
# have several options.
for verb in $verbs; do
	"$O/vpt" "$verb" --help | sed -nE 's/^  (    |-., )(--[^ ]+).*/\1\2/p' | tr -d ' ' | sort >"$work/$verb.help-heads"
	awk '/^\.(TP|TQ)$/ { head = 1; next } head { print } { head = 0 }' "docs/man/vpt-$verb.1" |
		sed -e 's/\\f.//g; s/\\-/-/g; s/", "/,/g; s/^\.[A-Z]* //; s/ //g' -e ':a; s/\(--[^,]*\),--/\1\n--/; ta' |
		grep '^-' | sort -u >"$work/$verb.man-heads"
	tap_empty "vpt $verb --help and vpt-$verb(1): options, letters and values" \
		"$(diff "$work/$verb.help-heads" "$work/$verb.man-heads")"
	"$O/vpt" "$verb" --help | sed '/^$/,$d; s/^.......//' >"$work/$verb.help-usage"
	awk '/^\.SH/ { on = /SYNOPSIS/; next } on' "docs/man/vpt-$verb.1" | sed 's/\\-/-/g' |
		awk '$1 == ".br" { print line; line = ""; next }
		{ between = $1 ~ /^\.[BIR][BIR]$/ ? "" : " "; line = line (line == "" ? "" : " ")
		  for (i = 2; i <= NF; i++) line = line (i > 2 ? between : "") $i }
		END { print line }' >"$work/$verb.man-usage"
	tap_empty "vpt $verb --help and vpt-$verb(1): the synopsis" \
		"$(diff "$work/$verb.help-usage" "$work/$verb.man-usage")"
done

# Command lines in text: from "vpt VERB" to the end of the code or of the command.
# shellcheck disable=SC2086 # a list of files
used=$(grep -noE 'vpt [a-z-]+ [^`|;&]*' $documents | sed 's/\\-/-/g')
for verb in $verbs; do
	tap_empty "options of vpt $verb in the documents" "$(
		grep ":vpt $verb " <<<"$used" | while IFS= read -r line; do
			grep -oE -- ' --[a-z][a-z-]*' <<<"${line#*:*:}" | while read -r option; do
				# What follows -- is another command's.
				grep -qxF -- "$option" "$work/$verb.help" || [ "$option" = --help ] ||
					echo "${line%%:vpt*}: $option"
			done
		done)"
done

# shellcheck disable=SC2086 # a list of files
tap_empty "targets of make in the documents" "$(grep -noE '`make [a-z][a-z0-9-]*[`a-z0-9]' $documents |
	while IFS= read -r line; do
		line=${line%\`}
		[ "${line##*make }" = help ] ||
			grep -qE "^#\?   make ${line##*make }( |$)" Makefile ./*/build.mk patches/*/build.mk ||
			echo "$line"
	done)"

# shellcheck disable=SC2086 # a list of files
tap_empty "files that documents link to" "$(grep -noE '\]\([^)#: ]+' $documents |
	while IFS=: read -r file line link; do
		[ -e "$(dirname "$file")/${link#??}" ] || echo "$file:$line: ${link#??}"
	done)"
tap_end
