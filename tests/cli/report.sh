#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt report: the data in the page are the stacks of --to folded and the instructions of a listing, and
# names of guests are escaped.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
VPT_AT=$(realpath "$VPT")

page() { # NAME ELF [OPTION...]
	name=$1
	elf=$2
	shift 2
	rm -f "$dir/t.vpt"
	"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$@" "$elf" >/dev/null
	compare "$name"
}

compare() { # NAME [OPTION...]
	name=$1
	shift
	"$VPT" export -q --to=folded "$@" "$dir/t.vpt" "$dir/folded"
	tap_run "$name: a page" "$VPT" report -q "$@" -o "$dir/page" "$dir/t.vpt"
	tap_run "$name: its data are the stacks" python3 tests/cli/formats/report.py "$dir/page" \
		"$dir/folded"
}

# The decoder counts a whole trace, and the walk counts a part, so --from=0 is the same by other means.
code() { # NAME WHAT...: the instructions of the last page, which must have each WHAT
	name=$1
	shift
	"$VPT" decode -i -j "$dir/t.vpt" >"$dir/listing"
	tap_run "$name: its instructions are the listing's" env PYTHONPATH=tests/cli/formats python3 \
		tests/cli/formats/report_code.py "$dir/page" "$dir/listing" "$@"
	"$VPT" report -q --from=0 -o "$dir/again" "$dir/t.vpt"
	sed 's/,\["part of vCPU [0-9]","from instruction 0"\]//g' "$dir/again" >"$dir/same"
	tap_run "$name: counted by the walk, too" cmp "$dir/page" "$dir/same"
}

# The times of the last trace. WHAT is that of report_times.py.
on_time() { # NAME WHAT...
	name=$1
	shift
	"$VPT" decode -T -i -j "$dir/t.vpt" >"$dir/listing"
	"$VPT" report -q -o "$dir/page" "$dir/t.vpt"
	tap_run "$name: its times are the listing's" python3 tests/cli/formats/report_times.py \
		"$dir/page" "$dir/listing" "$@"
}

page demo "$GUEST/demo.elf"
code demo insns ways targets more cold lines
on_time demo none
# The calls and their marks, of the last trace.
cuts() { # NAME OPTIONS WHAT...
	name=$1
	options=$2
	shift 2
	# shellcheck disable=SC2086 # a list of options
	"$VPT" export -q --to=chrome $options "$dir/t.vpt" "$dir/chrome"
	# shellcheck disable=SC2086
	"$VPT" report -q $options -o "$dir/page" "$dir/t.vpt"
	tap_run "$name: its calls and their cuts" python3 tests/cli/formats/report_cuts.py "$dir/page" \
		"$dir/chrome" "$@"
}

# The fact of a part that the page reports.
fact() { # NAME TEXT
	tap_run "$1: the page has it as a fact" grep -qF "$2" "$dir/page"
}

compare "a part" --from=100 --until=400
tap_run "a call that the part cuts is marked" grep -qE '\[[0-9]+,[0-9]+,[0-9]+,[0-9]+,[123]\]' "$dir/page"
tap_run "standard output" sh -c '"$0" report -q -o - --from=100 --until=400 "$1" | cmp - "$2"' \
	"$VPT" "$dir/t.vpt" "$dir/page"
page "six lanes" "$GUEST/processes.elf"
cuts "one address space" --process=0x120000 whole begin
fact "one address space" '["only address spaces","those of --process"]'
cuts "the last instructions" --last=5000 whole begin end
fact "the last instructions" '["part of vCPU 0","from instruction '
cuts "an interval" "--from=1000 --until=5000" begin end
fact "an interval" '["part of vCPU 0","from instruction 1000 until instruction 5000"]'
page "an overflow" "$GUEST/calls.elf" --model=skl --buffer=128:100
cuts "an overflow" "" whole begin end overflow
page "a filter" "$GUEST/filter_ip.elf" --pt=guest
cuts "a filter" "" whole begin both disabled
page "two vCPUs" "$GUEST/smp.elf" --cpus=2
cuts "two vCPUs" "" whole begin end
cuts "one vCPU" --vcpu=1 whole
fact "one vCPU" '["only vCPU","1"]'
page times "$GUEST/calls.elf" --tsc --mtc=0 --cyc
cuts times "--from=5us --until=20us" begin end
fact times 'TSC ticks after the first known time until '
on_time times
"$VPT" report -q --no-times -o "$dir/page" "$dir/t.vpt"
tap_run "a page without times" python3 tests/cli/formats/report_times.py "$dir/page" "$dir/listing" none
compare "two vCPUs"
code "two vCPUs" insns ways targets cold lines
page "two vCPUs with times" "$GUEST/smp.elf" --cpus=2 --tsc --mtc=0
on_time "two vCPUs with times" vcpus
page sleeps "$GUEST/timer.elf" --tsc --cyc
on_time sleeps sleep
page "many times" "$GUEST/storm.elf" --tsc --cyc
on_time "many times" sleep thin
page "RTIT with times" "$GUEST/processes.elf" --model=silvermont --tsc --mtc=0
on_time "RTIT with times" rtit
page "code of 16 and 32 bits" "$GUEST/compat.elf"
code "code of 16 and 32 bits" insns ways targets
page "code that changes" "$GUEST/selfmod.elf"
code "code that changes" insns other
page RTIT "$GUEST/calls.elf" --model=silvermont
code RTIT insns ways targets
objcopy --redefine-sym 'fibonacci=<script>alert(1)</script>&' "$GUEST/calls.elf" "$dir/hostile.elf"
page "a hostile name" "$dir/hostile.elf"
tap_run "it is there" grep -q 'u003cscript\\u003ealert(1)\\u003c/script\\u003e\\u0026' "$dir/page"
code "a hostile name" insns ways
tap_run "as text" test "$(grep -c 'script>alert' "$dir/page")" -eq 0

# The text of source lines. Names of guests are relative to the top of the tree.
source_of() { # NAME WHAT...: compare the last page with the files
	name=$1
	shift
	tap_run "$name" python3 tests/cli/formats/report_source.py "$dir/page" "$@"
}
source_of "source lines have their text"
tap_run "each file is there once" test "$(grep -o '"name":"guest/payloads/calls.c"' "$dir/page" | wc -l)" -eq 1
"$VPT" report -q --no-source -o "$dir/page" "$dir/t.vpt"
tap_run "--no-source" test "$(grep -c '"src":\|"source":\|guest/payloads' "$dir/page")" -eq 0
(cd "$dir" && "$VPT_AT" report -q -o page t.vpt)
source_of "elsewhere the files are not there" "payloads/calls.c:not found" "lib/cpu.h:not found"
(cd "$dir" && "$VPT_AT" report -q --source-dir="$OLDPWD" -o page t.vpt)
source_of "a directory for relative names" "payloads/calls.c:" "lib/cpu.h:"
(cd "$dir" && "$VPT_AT" report -q --source-dir=guest/lib/="$OLDPWD/guest/lib" -o page t.vpt)
source_of "another place of a directory" "payloads/calls.c:not found" "lib/cpu.h:"
mkdir "$dir/links" && ln -s "$PWD/guest/lib" "$dir/links/b"
(cd "$dir" && "$VPT_AT" report -q --source-dir=guest/li=links -o page t.vpt)
source_of "which is no prefix of characters" "payloads/calls.c:not found" "lib/cpu.h:not found"
refuses "an empty OLD" "$USAGE" "--source-dir==x: OLD=NEW or a directory" report --source-dir==x -o "$dir/none" "$dir/t.vpt"

guest_of() { # NAME SOURCE
	tap_run "a guest: $1" gcc -g -x c -std=gnu11 -ffreestanding -O1 -mno-red-zone -mgeneral-regs-only \
		-fno-pic -no-pie -fno-stack-protector -Iguest -Ishared/include '-DGUEST_PAYLOAD="test"' -nostdlib -static \
		-Wl,--gc-sections,--build-id=none,-z,noexecstack,-z,max-page-size=4096 -T guest/boot/guest.lds \
		-o "$dir/$1.elf" "$2" -x none "$GUEST/boot/start.o" "$GUEST/libguest.a"
}

# A file with markup, a character that ends lines of JavaScript, CR, and long lines.
mkdir "$dir/src"
cat >"$dir/src/markup.c" <<-'END'
	#include "lib/guest.h"
	#include "lib/report.h"
	PAYLOAD("markup");
	static volatile int x;
	void payload(void)
	{
		x = 1; /* </script><script>alert(1)</script> & " \u2028 */
		x = 2; /* LONG */
		x = 3; /*WIDE */
		x = 4; /* CR */
		report(true, "done");
	}
END
python3 - "$dir/src/markup.c" <<-'END'
	import sys
	with open(sys.argv[1], encoding="utf-8") as f:
	    text = f.read()
	text = text.replace("\\u2028", "\u2028").replace("LONG", "x" * 300).replace("WIDE", "é" * 300).replace("CR */", "CR */\r")
	with open(sys.argv[1], "w", encoding="utf-8", newline="") as f:
	    f.write(text)
END
guest_of markup "$dir/src/markup.c"
page markup "$dir/markup.elf"
source_of "its lines have their text"
tap_run "the markup is there" grep -q 'u003c/script\\u003e\\u003cscript\\u003ealert(1)' "$dir/page"
tap_run "as text, too" test "$(grep -c 'script>alert' "$dir/page")" -eq 0

# Files that are not read, in place of the one that the trace names.
instead() { # NAME WHY: of the file src/markup.c, which the caller has made
	"$VPT" report -q -o "$dir/page" "$dir/t.vpt"
	source_of "$1" "src/markup.c:$2"
	rm -rf "$dir/src/markup.c"
}
mv "$dir/src/markup.c" "$dir/real.c"
instead "a missing file" "not found"
mkfifo "$dir/src/markup.c"
instead "a pipe" "not a regular file"
mkdir "$dir/src/markup.c"
instead "a directory" "not a regular file"
ln -s /dev/zero "$dir/src/markup.c"
instead "a device" "not a regular file"
ln -s "$dir/src/markup.c" "$dir/src/markup.c"
instead "a link to itself" "cannot be read"
truncate -s 9M "$dir/src/markup.c"
instead "a large file" "not read: it has more than 8 MiB"
printf 'a\0b\n' >"$dir/src/markup.c"
instead "a binary file" "not a text"
head -n 8 "$dir/real.c" >"$dir/src/markup.c"
instead "a file with fewer lines" "another version: it has fewer lines"
# More text than a page takes: 7200 lines of 240 bytes.
python3 - "$dir/src/markup.c" <<-'END'
	import sys
	with open(sys.argv[1], "w", encoding="ascii") as f:
	    f.write('#include "lib/guest.h"\n#include "lib/report.h"\nPAYLOAD("long");\nstatic volatile int x;\n')
	    for i in range(8):
	        f.write("static noinline void f%d(void)\n{\n%s}\n" % (i, ("\tx = 1; /* %s */\n" % ("y" * 240)) * 900))
	    f.write("void payload(void)\n{\n%s\treport(true, \"done\");\n}\n" % "".join("\tf%d();\n" % i for i in range(8)))
END
guest_of long "$dir/src/markup.c"
"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$dir/long.elf" >/dev/null
"$VPT" report -q -o "$dir/page" "$dir/t.vpt"
source_of "a page has 1 MiB of source text" "src/markup.c:omitted in part: the page has 1 MiB"
text=$(grep -o 'x = 1; /\* y*' "$dir/page" | wc -c)
tap_run "and nearly as much: $text" test "$text" -gt 1000000 -a "$text" -lt 1048576

# A trace can name any file. A page that is passed on must not have the user's keys.
cp "$dir/real.c" "$dir/src/id_rsa"
guest_of key "$dir/src/id_rsa"
"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$dir/key.elf" >/dev/null
"$VPT" report -q -o "$dir/page" "$dir/t.vpt"
source_of "a file without a suffix of source" "src/id_rsa:not read: its name has no suffix"
tap_run "has no text in the page" test "$(grep -c 'alert(1)' "$dir/page")" -eq 0

tap_run "the program's part of the page has less than 150 KB" test \
	"$(cat vmm/report/* | wc -c)" -lt 150000
refuses "no output" "$USAGE" "--output or --serve is required" report "$dir/t.vpt"
refuses "a vCPU that is not there" "$USAGE" "has vCPUs 0 to 0" report -o "$dir/none" --vcpu=9 "$dir/t.vpt"
tap_run "which leaves no file" test ! -e "$dir/none"
refuses "the trace as output" "$USAGE" "report: " report -o "$dir/t.vpt" "$dir/t.vpt"
# Thousands of events of a kind, which are packed.
"$VPT" run -q --engine=soft --pt=host --arg=1500 -o "$dir/t.vpt" "$GUEST/processes.elf" >/dev/null
tap_run "all events are in the page" sh -c "python3 tests/cli/formats/report_events.py '$VPT' '$dir/t.vpt' \
	'$dir' 8 >'$dir/out'"
tap_run "these are many: $(cat "$dir/out")" test "$(cat "$dir/out")" -gt 10000
tap_end
