#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a guest prints on a terminal is shown and not obeyed; a file, a pipe, and what --console
# names get the guest's bytes as they are. script(1) is the terminal.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
VPT=$(realpath "$VPT")

# A guest that prints a sequence that sets the title, one that asks a terminal to answer, a
# character of two bytes, and half of one.
cat >"$dir/print.S" <<'END'
	.globl _start
_start:	lea text(%rip), %rsi
	mov $end - text, %ecx
	mov $0xe9, %edx
	rep outsb
	xor %eax, %eax
	mov $0xf4, %edx
	out %eax, %dx
text:	.ascii "plain\33]0;title\7\33[6n\303\251\n\302"
end:
END
gcc -nostdlib -static -no-pie -Wl,--build-id=none,-Ttext=0x100000,-z,noexecstack \
	-o "$dir/print.elf" "$dir/print.S" || exit 1
raw='plain\33]0;title\7\33[6n\303\251\n\302'

# expect NAME TEXT: what the terminal or the file got; a terminal's line ends are CR LF.
expect() {
	printf "$2" >"$dir/want"
	tr -d '\r' <"$dir/got" >"$dir/got.lf"
	tap_empty "$1" "$(cmp "$dir/want" "$dir/got.lf" 2>&1 || od -c "$dir/got.lf")"
}
on_terminal() { # LC_ALL COMMAND
	env LC_ALL="$1" script -qec "$2" /dev/null </dev/null >"$dir/got"
}
run="$VPT run -q --engine=soft --pt=off"

on_terminal C.UTF-8 "$run $dir/print.elf"
expect "a terminal for UTF-8" 'plain^[]0;title^G^[[6n\303\251\n\\xc2'
on_terminal C "$run $dir/print.elf"
expect "a terminal for another encoding" 'plain^[]0;title^G^[[6n\\xc3\\xa9\n\\xc2'
on_terminal C.UTF-8 "$run --json $dir/print.elf >$dir/json"
expect "with --json standard error" 'plain^[]0;title^G^[[6n\303\251\n\\xc2'
on_terminal C.UTF-8 "$run --console=/dev/tty $dir/print.elf"
expect "a terminal that --console names" "$raw"
on_terminal C.UTF-8 "$run $dir/print.elf | cat"
expect "a pipe" "$raw"
$run "$dir/print.elf" >"$dir/got"
expect "a file" "$raw"
$run --console="$dir/got" "$dir/print.elf"
expect "--console=FILE" "$raw"

# A restored guest.
on_terminal C.UTF-8 "$run --snapshot=$dir/x.vps --snapshot-at=1 $dir/print.elf"
on_terminal C.UTF-8 "$VPT restore -q $dir/x.vps"
expect "a guest that is restored" 'plain^[]0;title^G^[[6n\303\251\n\\xc2'
if [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
	on_terminal C.UTF-8 "$VPT lockstep $dir/print.elf 2>/dev/null"
	head -n 1 "$dir/got" >"$dir/first" && mv "$dir/first" "$dir/got"
	expect "lockstep" 'plain^[]0;title^G^[[6n\303\251\n'
else
	tap_skip "lockstep" "no /dev/kvm"
fi
tap_end
