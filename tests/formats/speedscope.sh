#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt export --to speedscope by the JSON schema that speedscope's npm package has.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

version=1.25.0
cache=${VPT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vpt}/speedscope
package=$cache/speedscope-$version.tgz
mkdir -p "$cache"
[ -s "$package" ] || (cd "$cache" && npm pack --silent "speedscope@$version" >/dev/null)
tap_run "the schema" sh -c "tar -xOf '$package' package/dist/release/file-format-schema.json >'$dir/schema'"

validate() { # FILE
	python3 -c '
import json, sys, jsonschema
schema, file = (json.load(open(name)) for name in sys.argv[1:])
jsonschema.validate(file, schema)' "$dir/schema" "$1"
}

for guest in calls processes exceptions; do
	rm -f "$dir/t.vpt"
	"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$GUEST/$guest.elf" >/dev/null 2>&1
	"$VPT" export -q --to=speedscope "$dir/t.vpt" "$dir/out"
	tap_run "$guest" validate "$dir/out"
done
sed 's/"unit":"none"/"unit":"insns"/' "$dir/out" >"$dir/wrong"
if validate "$dir/wrong" 2>/dev/null; then
	tap_fail "a wrong unit" "the schema accepts it"
else
	tap_ok "a wrong unit"
fi
tap_end
