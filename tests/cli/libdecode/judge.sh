#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt that is built without libipt decodes and verifies, and says that the judge is missing.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
alone=${O:-build/${MODE:-rel}}/tests/vpt-without-libipt

"$VPT" run -q --engine=soft --oracle --pt=host -o "$dir/t.vpt" "$GUEST/calls.elf" >/dev/null 2>&1
tap_empty "it is not linked to libipt" "$(ldd "$alone" | grep -i ipt)"
tap_run "vpt itself is" sh -c 'ldd "$1" | grep -q libipt' x "$VPT"
tap_run "decode" sh -c '"$1" decode "$3" >"$4/without" && "$2" decode "$3" >"$4/with" &&
	cmp "$4/without" "$4/with"' x "$alone" "$VPT" "$dir/t.vpt" "$dir"
tap_run "verify" "$alone" verify "$dir/t.vpt"
tap_run "verify --with=libipt" "$VPT" verify --with=libipt "$dir/t.vpt"
said=$("$alone" verify --with=libipt "$dir/t.vpt" 2>&1)
status=$?
tap_run "verify --with=libipt without it" test "$status: $said" = \
	"2: vpt verify: --with=libipt: this vpt was built without libipt (make LIBIPT=no)"
tap_end
