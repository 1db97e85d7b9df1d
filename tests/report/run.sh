#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make check-report: pages of vpt report in a browser. Screenshots are left in $O/report.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

figures=$O/report/figures
mkdir -p "$O/report"
printf '%-10s %14s %12s %8s %9s\n' page instructions bytes "make, s" "open, s" >"$figures"

sources= # the option --source-dir of pages
# Make a page of t.vpt, open it in the browser, and add a row of figures.
show() { # NAME FLAGS [OPTION...]
	name=$1
	flags=$2
	shift 2
	begun=$(date +%s.%N)
	"$VPT" report -q ${sources:+"--source-dir=$sources"} "$@" -o "$dir/$name.html" "$dir/t.vpt"
	ended=$(date +%s.%N)
	"$VPT" export -q --to=folded "$@" "$dir/t.vpt" "$dir/$name.folded"
	# shellcheck disable=SC2086 # a list of flags
	tap_run "$name" python3 tests/report/browser.py "$dir/$name.html" "$dir/$name.folded" \
		"$O/report/$name" $flags
	insns=$(sed -n 's/.*"hz":[0-9]*,"insns":\([0-9]*\),.*/\1/p' "$dir/$name.html")
	printf '%-10s %14s %12s %8.2f %9s\n' "$name" "$insns" "$(wc -c <"$dir/$name.html")" \
		"$(echo "$ended - $begun" | bc)" "$(cat "$O/report/$name/opened")" >>"$figures"
}

page() { # NAME FLAGS ELF [OPTION...]
	name=$1
	flags=$2
	elf=$3
	shift 3
	rm -f "$dir/t.vpt"
	"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$@" "$elf" >/dev/null
	show "$name" "$flags"
}

# The Linux of make demo.
boot() { # NAME FLAGS [OPTION...]
	name=$1
	flags=$2
	shift 2
	rm -f "$dir/t.vpt"
	linux=$(patches/tools/demo) || exit 1
	"$VPT" run -q --engine=soft --pt=host --tasks "$@" -o "$dir/t.vpt" --mem=512M --no-reboot \
		--initrd="$linux/initrd" --console="$dir/console" \
		--append="console=ttyS0 loglevel=0 panic=-1 rdinit=/demo/init" "$linux/vmlinuz"
	(cd "$dir" && busybox uudecode -o kallsyms.gz console && gunzip -f kallsyms.gz)
	show "$name" "$flags" --symbols="$dir/kallsyms" --symbols="$linux/show_version"
}

objcopy --redefine-sym 'fibonacci=<script>alert(1)</script>&' "$GUEST/calls.elf" "$dir/hostile.elf"
page hostile "" "$dir/hostile.elf"
# Its source with markup in each line.
mkdir -p "$dir/src/guest/payloads"
sed 's,$, // </script><script>alert(2)</script>,' guest/payloads/calls.c >"$dir/src/guest/payloads/calls.c"
sources=$dir/src
show source source
sources=
page processes "" "$GUEST/processes.elf"
page smp "" "$GUEST/smp.elf" --cpus=4
page times time "$GUEST/timer.elf" --tsc --cyc
page smp-times time "$GUEST/smp.elf" --cpus=4 --tsc --mtc=0
# The last page again, from a server.
"$VPT" report -q --serve "$dir/t.vpt" >"$dir/url" &
server=$!
trap 'kill "$server" 2>/dev/null; rm -rf "$dir"' EXIT
n=0
while [ ! -s "$dir/url" ] && [ $n -lt 600 ]; do
	sleep 0.1
	n=$((n + 1))
done
tap_run "served" python3 tests/report/browser.py "$(cat "$dir/url")" "$dir/smp-times.folded" \
	"$O/report/served" time served
kill "$server"
boot linux detail
tap_end
