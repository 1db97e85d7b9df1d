#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every payload with one owner of PT on one model and one engine (soft if it is not
# said), as guest/payloads/payloads.cfg has it: the guest ends as it must, and what is
# decoded is what ran. A payload that its row says cannot run on this model must say so
# itself.
# usage: matrix.sh OWNER MODEL [ENGINE]
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh
owner=$1
model=$2
engine=${3:-${ENGINE:-soft}}
case $engine in kvm*) need_kvm ;; esac

# Rows of this owner and engine as "payload expected arguments".
rows=$(awk -v owner="$owner" -v model="$model" -v engine="$engine" '
	# The last comment before the rows names the columns.
	/^# payload/ { for (i = 1; i <= NF; i++) column[$i] = i - 1 }
	/^#/ || NF == 0 { next }
	$2 == owner && ($column["engine"] == "any" || $column["engine"] == engine) {
		line = $1 " " $column[model]
		for (i = column["arguments"]; i <= NF; i++)
			line = line " " $i
		print line
	}' guest/payloads/payloads.cfg)
tap_run "payloads.cfg has rows for $owner on $model, $engine" test -n "$rows"

# A payload nobody runs would prove nothing.
if [ "$owner" = guest ]; then
	tap_empty "every payload has a row" "$(for file in guest/payloads/*.c; do
		name=$(basename "$file" .c)
		grep -q "^${name}[[:blank:]]" guest/payloads/payloads.cfg || echo "$name"
	done)"
fi

while read -r payload expected arguments; do
	[ -n "$payload" ] || continue
	name="$payload $owner $model $engine${arguments:+ $arguments}"
	# shellcheck disable=SC2086 # a list of arguments
	case $expected in
	pass)
		roundtrip "$name" "$dir/trace.vpt" 0 "$GUEST/$payload.elf" \
			--engine "$engine" --pt "$owner" --model "$model" $arguments
		;;
	skip)
		# What ran until then is traced all the same where the host traces.
		empty=--allow-empty
		[ "$owner" = guest ] || empty=
		said=$("$VPT" run --engine "$engine" --pt "$owner" --model "$model" $arguments \
			--oracle -o "$dir/trace.vpt" "$GUEST/$payload.elf" 2>&1)
		status=$?
		if [ $status -ne 1 ] || ! echo "$said" | grep -q ', 0 failed, [1-9][0-9]* skipped'; then
			tap_fail "$name: should not apply" "exit status $status
$(echo "$said" | tail -n 8)"
		elif ! said=$("$VPT" verify $empty "$dir/trace.vpt" 2>&1); then
			tap_fail "$name" "vpt verify: $(echo "$said" | tail -n 8)"
		else
			tap_ok "$name: does not apply, says so, and what ran is in the trace"
		fi
		;;
	-) ;; # this model refuses the arguments
	*)
		tap_fail "$name" "payloads.cfg expects $expected: pass, skip or -"
		;;
	esac
done <<EOF2
$rows
EOF2
tap_end
