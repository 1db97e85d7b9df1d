# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Exports that a reader of each format compares with vpt decode. Source it after cli.sh.
export PYTHONDONTWRITEBYTECODE=1

# compare LISTING GUEST FORMATS [OPTION...]: run a guest with options, list its trace with the options
# LISTING of vpt decode, and export it to each of the formats. The trace stays in t.vpt. A reader also
# gets the address of the guest's first segment.
compare() {
	listing=$1
	guest=$2
	formats=$3
	base=$(readelf -lW "$guest" | awk '$1 == "LOAD" { print $3; exit }')
	shift 3
	rm -f "$dir/t.vpt"
	"$VPT" run -q --engine=soft "$@" -o "$dir/t.vpt" "$guest" >"$dir/log" 2>&1 </dev/null
	# shellcheck disable=SC2086 # several options
	"$VPT" decode $listing "$dir/t.vpt" >"$dir/listing"
	for format in $formats; do
		rm -f "$dir/out"
		"$VPT" export -q --to="$format" "$dir/t.vpt" "$dir/out"
		tap_run "$format of $(basename "$guest") $*" \
			python3 "tests/cli/formats/$format.py" "$dir/listing" "$dir/out" "$base"
	done
}
