# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The head of a test of the command: source it from the top of the tree. It sources tap.sh and
# refuse.sh, and sets $dir to a new directory, which is removed when the script exits.

. tests/lib/tap.sh
. tests/lib/refuse.sh
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
