#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The unit tests of the KVM engine and of changes between engines, where there is a KVM.
# usage: kvm.sh TEST
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/roundtrip.sh
need_kvm
tap=$(mktemp) || exit 1
trap 'rm -f "$tap"' EXIT
CK_TAP_LOG_FILE_NAME=$tap "${O:-build/${MODE:-rel}}/tests/$1" >&2
status=$?
cat "$tap"
exit $status
