#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt record: command lines that are none, and machines that have no PT.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

refuses "nothing to record" "$USAGE" "system" record
refuses "an unknown option" "$USAGE" "frobnicate" record --frobnicate
refuses "an option without its value" "$USAGE" "value" record --system --output
for list in "" x 1, 2-1 0-99999; do
	refuses "--cpu=$list" "$USAGE" "not a list" record --system --cpu="$list"
done
for seconds in 0 -1 x 1000001; do
	refuses "--seconds=$seconds" "$USAGE" "seconds=$seconds" record --system --seconds=$seconds
done
for bytes in 0 1000 65535 98304 2147483648 x; do
	refuses "--buffer=$bytes" "$USAGE" "buffer=$bytes" record --system --buffer=$bytes
done
# A CPU that no machine has, where there is PT.
refuses "no PT" "$HOST" "no Intel PT|CPU 65535" record --system --cpu=65535 -o "$dir/t.vpt" true
tap_run "it leaves no file" test ! -e "$dir/t.vpt"
tap_end
