#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Shells complete what vpt takes: bash, by its function and the words that readline would give it,
# and zsh, on a terminal. What is offered, what --help describes and what is parsed are the same.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/lib/cli.sh disable=SC2154
. tests/lib/cli.sh
build=${O:-build/${MODE:-rel}}
verbs=$("$VPT" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p')

tap_run "bash's is as installed" cmp <("$VPT" --completion=bash) "$build/completion.bash"
tap_run "zsh's is as installed" cmp <("$VPT" --completion=zsh) "$build/completion.zsh"
refuses "no such shell" "$USAGE" "not bash or zsh" --completion=fish

# shellcheck source=/dev/null
. "$build/completion.bash"
compopt() { compopts+=" $*"; }

# offers WORD...: what bash offers for the last word of a line, a line each.
offers() {
	compopts=
	COMP_WORDS=(vpt "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_vpt
	[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
}

# shellcheck disable=SC2086 # a list of words
tap_empty "bash: verbs" "$(diff <(offers '' | sort) <(printf '%s\n' $verbs help --help --version | sort))"
# shellcheck disable=SC2086 # a list of words
tap_empty "bash: help VERB" "$(diff <(offers help '' | sort) <(printf '%s\n' $verbs | sort))"
for verb in $verbs; do
	# "--name", "--name=" for one with a value, and both where it may be absent.
	"$VPT" "$verb" --help | awk '/^  (-.,|   ) --/ {
		head = substr($0, 7); name = head; sub(/[^a-z0-9-].*/, "", name)
		rest = substr(head, length(name) + 1)
		if (rest ~ /^=/) print name "="
		else if (rest ~ /^\[=/) print name "\n" name "="
		else print name }' >"$dir/help"
	echo --sandbox= >>"$dir/help"
	tap_empty "$verb: --help has each option once" "$(sort "$dir/help" | uniq -d)"
	tap_empty "bash: $verb: what --help has" "$(diff <(sort "$dir/help") <(offers "$verb" -- | sort))"
	grep -A999 "^	$verb)\$" "$build/completion.zsh" | sed '/;;$/q' |
		grep -oE "^[[:blank:]]+'\*(--|'\{)[^[]*" | grep -oE -- '--[a-z0-9-]+(=-?)?' |
		sed 's/\(.*\)=-$/\1\n\1=/' | sort >"$dir/zsh"
	tap_empty "zsh: $verb: what --help has" "$(diff <(sort "$dir/help") "$dir/zsh")"
	# Each is parsed: one letter more is unknown, and a line says what was meant.
	tap_empty "$verb: each option is parsed" "$(grep -v sandbox "$dir/help" | tr -d = | sort -u |
		while read -r option; do
			case $("$VPT" "$verb" "${option}Z" 2>&1 </dev/null) in
			*"did you mean $option?"*) ;;
			*) echo "$option" ;;
			esac
		done)"
done
# Nothing but the tables is parsed.
tap_empty "getopt is called in one place" "$(grep -lr 'getopt' vmm --include=*.[ch] | grep -vx 'vmm/cli/option\.c')"

tap_run "bash: --pt=" test "$(offers run --pt = '' | tr '\n' ' ')" = "guest host off "
tap_run "bash: --pt=h" test "$(offers run --pt = h)" = host
tap_run "bash: at the sign itself" test "$(offers run --pt = | tr '\n' ' ')" = "guest host off "
tap_run "bash: -p h" test "$(offers run -p h)" = host
tap_run "bash: a model" test "$(offers run --model = s | tr '\n' ' ')" = "skl spr silvermont "
tap_run "bash: a value that may be absent" test "$(offers run --ptw = '')" = fup
tap_empty "bash: it is absent" "$(offers run --ptw '')"
tap_run "bash: --sandbox=" test "$(offers info --sandbox = o | tr '\n' ' ')" = "on off "
tap_run "bash: the next of a list" test "$(offers run --conceal = exec,e | tr '\n' ' ')" = "exec,exec exec,exit exec,entry "
tap_empty "bash: files are readline's" "$(offers run --output = '')$(offers dump '')"
offers run --mem = '' >/dev/null
tap_run "bash: nothing for a number" test "$compopts" = " +o default"
offers import --root = '' >/dev/null
tap_run "bash: folders" test "$compopts" = " +o default -o dirnames"
offers run --out >/dev/null
tap_run "bash: no blank after the sign" test "$compopts" = " -o nospace"

# zsh, as its user sees it: a shell on a terminal, in which Tab is pressed.
cat >"$dir/zsh-offers" <<'END'
zmodload zsh/zpty || exit 1
zpty shell env HOME=$dir TERM=dumb zsh -f -i
zpty -w shell "PS1=; fpath=($dir \$fpath); autoload -Uz compinit; compinit -u -D; unsetopt zle_bracketed_paste"
zpty -w shell "zstyle ':completion:*' list-separator ' '; LISTMAX=1000; setopt no_always_last_prompt; echo rea''dy"
zpty -r shell out '*ready*' || exit 1
zpty -w -n shell "$1"$'\t'
zpty -r -t shell out 2>/dev/null
sleep 1
while zpty -r -t shell out; do print -r -- "$out"; done
zpty -d shell
END
cp "$build/completion.zsh" "$dir/_vpt"
zsh_offers() { env dir="$dir" timeout 30 zsh -f "$dir/zsh-offers" "$1"; }
tap_run "zsh: the function is right" zsh -n "$dir/_vpt"
tap_run "zsh: verbs" grep -q 'lockstep  *run a guest on two engines' <(zsh_offers 'vpt ')
tap_run "zsh: options" grep -q -- '--max-mem  *refuse a guest with more memory' <(zsh_offers 'vpt restore --')
tap_run "zsh: the next of a list" grep -q 'entry .*exit' <(zsh_offers 'vpt run --conceal=exec,e')
tap_run "zsh: values" grep -q 'guest .*host .*off' <(zsh_offers 'vpt run --pt=')
tap_end
