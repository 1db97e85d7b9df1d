#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# docs/index.md links each file below docs/ exactly once. tests/docs/names.sh checks that what a
# document links to exists.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh

# The targets of links, one in a line.
linked=$(grep -oE '\]\([^)#:]+\)' docs/index.md | sed 's/^](\(.*\))$/\1/' | grep -v '^\.\./')
# The pictures of gallery.md are not documents.
files=$(.ci/files 'docs/*' | sed 's,^docs/,,' | grep -vx -e index.md -e 'gallery/.*')
tap_run "there are at least 60 documents" test "$(echo "$files" | wc -l)" -ge 60
tap_empty "each document is in docs/index.md" "$(echo "$files" | while IFS= read -r file; do
	echo "$linked" | grep -qxF "$file" || echo "$file"
done)"
tap_empty "none is there twice" "$(echo "$linked" | sort | uniq -d)"
tap_empty "docs/index.md names nothing else" "$(echo "$linked" | while IFS= read -r file; do
	echo "$files" | grep -qxF "$file" || echo "$file"
done)"
# What a newcomer reads first leads there.
tap_run "README.md links docs/index.md" grep -qF '](docs/index.md)' README.md
tap_end
