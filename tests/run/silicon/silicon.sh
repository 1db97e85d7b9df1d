#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The software CPU against the processor of this machine, COUNT random instructions: see
# silicon.c. A class of instructions is a test.
# usage: silicon.sh COUNT [SEED]
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/tap.sh
count=${1:?usage: silicon.sh COUNT [SEED]}
said=$("${O:-build/${MODE:-rel}}/tests/vpt-silicon" --count "$count" --seed "${2:-1}" 2>&1)
status=$?

classes=$(echo "$said" | awk '$1 == "total" { exit } on { print $1, $2, $4 } $1 == "class" { on = 1 }')
while read -r class tried differences; do
	[ -n "$class" ] || continue
	if [ "$tried" -eq 0 ]; then
		tap_fail "$class" "not one was tried"
	elif [ "$differences" -ne 0 ]; then
		tap_fail "$class: $tried instructions, $differences differ" \
			"$(echo "$said" | grep -A 7 "^#[0-9]* $class:" | head -n 16)"
	else
		tap_ok "$class: $tried instructions"
	fi
done <<EOF2
$classes
EOF2
if [ $status -eq 0 ] && [ -n "$classes" ]; then
	tap_ok "$count instructions, no difference"
else
	tap_fail "$count instructions" "exit status $status
$(echo "$said" | tail -n 8)"
fi
tap_end
