#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt run --ring with Debian's cloud kernel: a guest idles for an hour of its time and then panics. The
# ring has the way to the panic, by the end of the run, by the text of the panic and by a function.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/run/linux/initrd.sh

linux=$(patches/tools/guest) || exit 1
linux_initrd

boot() { # NAME OPTION...
	local name=$1
	shift
	"$VPT" run --engine=soft --pt=host --no-reboot --mem=512M --initrd="$dir/initrd" \
		--console="$dir/$name.con" -o "$dir/$name.vpt" "$@" \
		--append="console=ttyS0 loglevel=1 panic=-1 rdinit=/vpt-init crash" "$linux/vmlinuz" \
		2>"$dir/$name.err"
	status=$?
}

decode() { # NAME: its calls, with names
	"$VPT" decode --calls --symbols="$dir/kallsyms" "$dir/$1.vpt" >"$dir/$1.calls" 2>"$dir/$1.errors"
}

# on_way FILE NAME...: each name is in a deeper line than the one before, and below it.
on_way() {
	local file=$1
	shift
	awk -v names="$*" '
		BEGIN { n = split(names, name, " "); i = 1; depth = -1 }
		{ match($0, /^ */) }
		i <= n && RLENGTH > depth && index($0, "x  " name[i] "  (") { depth = RLENGTH; i++ }
		END { exit i <= n }' "$file"
}

size() { # FILE
	stat -c %s "$1"
}

boot end --ring=16M --tasks
tap_run "a panic ends the run" test "$status" -ne 2
sed -n '/^begin-base64/,/^====/{/^begin-base64/d;/^====/d;p}' "$dir/end.con" | tr -d '\r' | base64 -d |
	gzip -d >"$dir/kallsyms"
tap_run "the guest printed its names" grep -q ' sysrq_handle_crash$' "$dir/kallsyms"
tap_run "the ring dropped most of the trace" awk '/the ring is saved/ { exit !($10 > 2 * $8) }' "$dir/end.err"
decode end
tap_run "end: it decodes without an error" test $? -eq 0
tap_empty "end: no line on standard error" "$(cat "$dir/end.errors")"
tap_run "end: the way to the panic" on_way "$dir/end.calls" write_sysrq_trigger __handle_sysrq \
	sysrq_handle_crash panic
tap_run "end: the process has its name" grep -q 'vpt-init' <("$VPT" decode --spaces "$dir/end.vpt")
tap_run "end: the file is not larger than the ring and its code" test "$(size "$dir/end.vpt")" -lt 60000000

boot text --ring=1M --trace-until=console:"Kernel panic" --cpus=2
decode text
tap_run "text: it decodes without an error" test $? -eq 0
tap_run "text: the way to the panic" on_way "$dir/text.calls" sysrq_handle_crash panic
tap_run "text: the ring is saved before the end" grep -q "the trace ends at" "$dir/text.err"

boot function --ring=2M --symbols="$dir/kallsyms" --trace-until=sysrq_handle_crash --trace-after=2000
decode function
tap_run "function: it decodes without an error" test $? -eq 0
tap_run "function: the way to the panic, and a part of it" on_way "$dir/function.calls" __handle_sysrq \
	sysrq_handle_crash panic
tap_run "function: the console is the same" cmp "$dir/end.con" "$dir/function.con"

# A trace without a ring, from the function on, has the same instructions at its end.
boot whole --trace-from=sysrq_handle_crash --symbols="$dir/kallsyms"
insns() { # NAME OPTION...
	"$VPT" decode --insn "${@:2}" "$dir/$1.vpt" | grep -E '^[0-9a-f]{16}'
}
insns whole >"$dir/whole.insns"
insns end --last="$(wc -l <"$dir/whole.insns")" >"$dir/end.insns"
tap_run "a trace of the panic has instructions: $(wc -l <"$dir/whole.insns")" test "$(wc -l <"$dir/whole.insns")" \
	-gt 1000
tap_run "the ring has the same" cmp "$dir/whole.insns" "$dir/end.insns"
tap_end
