# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# A ledger of tests that passed, below $O. A run that was interrupted, or a later one with the same
# inputs, does not run them again. Source it after cli.sh.
#
#   ledger_open NAME TEXT FILE...   use the ledger of these inputs: a text, vpt and files
#   ledger_find ROW                 print what was noted with a row that passed
#   ledger_note ROW TEXT            note that a row passed, with a text that is not empty

ledger_open() {
	ledger=${O:-build/${MODE:-rel}}/$1
	mkdir -p "$ledger" || exit 1
	ledger=$ledger/$({
		shift
		echo "$1"
		shift
		sha256sum "$VPT" "$@"
	} | sha256sum | cut -c1-16)
}

ledger_find() {
	[ ! -e "$ledger" ] || sed -n "s/^$1: //p" "$ledger"
}

ledger_note() {
	echo "$1: $2" >>"$ledger"
}
