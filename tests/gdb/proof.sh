# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The parts of make check-gdb. Source it after cli.sh.
#
#   proof_open TEXT FILE...      use the ledger of these inputs, and of the clients
#   proof_passed ROW             ends the script if ROW has passed before
#   proof_client FILE ARGUMENT...
#                                run a client of tests/gdb; each of its lines is a test
#   proof_end ROW                note ROW with its figures if all tests passed, and end

. tests/lib/ledger.sh

proof_open() {
	po_text=$1
	shift
	ledger_open gdb "$po_text" tests/gdb/*.py tests/gdb/*.sh "$@"
}

proof_passed() {
	pp_figures=$(ledger_find "$1")
	[ -n "$pp_figures" ] || return 0
	tap_ok "$1 passed before: $pp_figures"
	tap_end
}

proof_client() {
	pc_file=tests/gdb/$1
	shift
	# shellcheck disable=SC2154 # of cli.sh
	python3 "$pc_file" "$@" >"$dir/client" 2>&1
	pc_status=$?
	while read -r pc_word pc_rest; do
		case $pc_word in
		ok) tap_ok "${pc_rest#* - }" ;;
		not) tap_fail "${pc_rest#* - }" ;;
		"#") echo "# $pc_rest" ;;
		esac
	done <"$dir/client"
	# A client that breaks off has no plan.
	tap_run "$pc_file reaches its end" test "$pc_status" -eq 0 -a \
		"$(sed -n 's/^1\.\.//p' "$dir/client")" -gt 2
	[ "$pc_status" -eq 0 ] || tail -n 5 "$dir/client" | sed 's/^/# /'
	sed -n 's/^ok [0-9]* - \(.* differences.*\)/\1/p; s/^# \(.* median .*\)/\1/p' "$dir/client" >>"$dir/figures"
}

proof_end() {
	[ "$tap_failed" -ne 0 ] || ledger_note "$1" "$(tr '\n' ';' <"$dir/figures")"
	tap_end
}
