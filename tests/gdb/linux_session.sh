# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # of linux.sh
# A script of the stock gdb with the names of a kernel. linux.sh sources it.

run symbols --pt=off
sed -n '/^begin-base64/,/^====/{/^begin-base64/d;/^====/d;p}' "$dir/con" | tr -d '\r' | base64 -d | gzip -d \
	>"$dir/kallsyms"
tap_run "the guest printed its names" grep -q ' T vfs_read$' "$dir/kallsyms"
tap_run "a file of symbols: $(python3 tests/gdb/symbols.py "$dir/kallsyms" "$dir/symbols")" test -s "$dir/symbols"

# Each line of the answer begins with a word of its own.
cat >"$dir/script" <<'END'
set pagination off
set confirm off
set step-mode on
set remotetimeout 100
monitor goto 900000000
maintenance flush register-cache
break vfs_read
continue
printf "entry %lx\n", $pc
printf "when-entry "
monitor when
delete
stepi 40
printf "when-inside "
monitor when
printf "inside "
info symbol $pc
reverse-finish
x/i $pc
reverse-finish
printf "when-call "
monitor when
x/i $pc
printf "call %lx\n", $pc
reverse-step 1000
printf "when-back "
monitor when
stepi 1000
printf "again %lx\n", $pc
printf "when-again "
monitor when
printf "value-now %lx\n", *(long *)&jiffies_64
watch *(long *)&jiffies_64
reverse-continue
printf "when-write "
monitor when
printf "value-before %lx\n", *(long *)&jiffies_64
printf "writer "
info symbol $pc
delete
stepi
printf "value-after %lx\n", *(long *)&jiffies_64
watch *(long *)&jiffies_64
continue
printf "when-next "
monitor when
kill
END
"${under_gdb[@]}" --gdb="$dir/gdb" "$linux/vmlinuz" >"$dir/run" 2>&1 &
pid=$!
while [ ! -S "$dir/gdb" ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
timeout 500 gdb -q -nx -batch -ex "file $dir/symbols" -ex "target remote $dir/gdb" -x "$dir/script" \
	>"$dir/out" 2>&1
tap_run "gdb reaches the end of the script" test $? -eq 0
wait $pid
sed 's/^/# /' "$dir/out"
said() { sed -n "s/^$1 //p" "$dir/out" | head -n 1; }

tap_run "a break in a kernel function by its name" test "$(said entry)" = \
	"$(sed -n 's/^\([0-9a-f]*\) T vfs_read$/\1/p' "$dir/kallsyms")"
tap_run "40 steps forward" test "$(said when-inside)" -eq $(($(said when-entry) + 40))
tap_run "reverse-finish goes to the call of the function inside" grep -qE \
	"^=> .*<vfs_read\+.*call .*<$(said inside | sed 's/ .*//')>" "$dir/out"
tap_run "and then to the call of the function" test "$(said when-call)" -eq $(($(said when-entry) - 1))
tap_run "the instruction there is the call" grep -qE '^=> .*call .*<vfs_read>' "$dir/out"
tap_run "1,000 reverse-step" test "$(said when-back)" -eq $(($(said when-call) - 1000))
tap_run "1,000 stepi lead back to it" test "$(said again)" = "$(said call)" -a \
	"$(said when-again)" = "$(said when-call)"
tap_run "reverse-continue goes to a write of jiffies: before it the value is another one" test \
	"$(said when-write)" -lt "$(said when-again)" -a "$(said value-before)" != "$(said value-after)"
tap_run "the writer is the kernel's timer" grep -qE '^writer (do_timer|tick_)' "$dir/out"
tap_run "it is the last write: the value is the present one" test "$(said value-after)" = "$(said value-now)"
tap_run "and the next write is later" test "$(said when-next)" -gt "$(said when-again)"
echo "0 differences in 9 stops of the stock gdb" >"$dir/figures"
