#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Hostile guests whose engine changes between KVM and the software CPU, where there is a KVM. For
# 1,000 rounds with fresh seeds: hostile_switch.sh 1000 "$(od -An -N4 -tu4 /dev/urandom)"
# usage: hostile_switch.sh [ROUNDS [SEED]]
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/roundtrip.sh
need_kvm
# The quarantine of freed memory would look like growth.
ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=16" \
	exec "${O:-build/${MODE:-rel}}/tests/hostile-switch" "${1:-500}" "${2:-1}"
