#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt run --trace=rtit: options, who owns it, and that a run, an engine and a restored
# snapshot all give the same trace.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
elf=$GUEST/calls.elf
out=$dir/out.vpt

# Refused before anything is done.
wrong() {
	name=$1
	words=$2
	shift 2
	refuses "$name" "$USAGE" "$words" run -q -o "$out" "$@" "$elf"
}
host() {
	name=$1
	words=$2
	shift 2
	wrong "$name" "$words" --trace=rtit --pt=host "$@"
}
wrong "a trace system that is none" "trace=lbr.*pt or rtit" --trace=lbr
wrong "rtit of a model with PT" "skl has PT" --trace=rtit --model=skl
wrong "pt of a model with RTIT" "airmont has RTIT" --trace=pt --model=airmont
wrong "other CPUID words" "caps.*no PT" --model=silvermont --caps=nonturbo=30
wrong "RTIT of this machine" "kvm-pt" --trace=rtit --engine=kvm-pt
for option in ptw power events no-tnt no-branch; do
	host "--$option" "--$option: not supported" "--$option"
done
for option in defer-tips cyc-bits=8; do
	host "--$option" "--${option%=*}: not supported" "--$option"
	wrong "--$option, where the guest traces" "--${option%=*}: not supported" --trace=rtit "--$option"
done
host "a threshold of cycle counts" "cyc.*no value" --cyc=0
host "an MTC range that there is not" "mtc=4.*0 to 3" --mtc=4
host "a PSB period that there is not" "psb=4.*0 to 3" --psb=4
host "three ranges" "3 ranges.*has 2" --filter=0x1-0x2 --filter=0x3-0x4 --stop=0x5-0x6
host "a clock ratio that STS has no room for" "cbr.*63" --cbr=64
host "a buffer that is too small" "buffer=63" --buffer=63
host "a lag of more packets" "clear-lag=5.*4" --clear-lag=5
for list in E0 E9 E1,, E1E2 e1 ,E1 E12 all,E1; do
	host "errata $list" "errata=$list" --errata="$list"
done
wrong "a host's option where the guest traces" "less-pkts" --trace=rtit --less-pkts
for option in less-pkts errata=E1 clear-lag=1 disable-pgd; do
	wrong "--$option with PT" "for --trace=rtit" --pt=host "--$option"
done
for option in conceal=all trap=cr3 controls=none; do
	wrong "--$option" "--${option%=*}: not supported" --trace=rtit --usage=guest "--$option"
done
tap_run "nothing was written" test ! -e "$out"
# ... or as the machine is there.
host "CR3 bits that are not matched" "cr3.*not allow" --cr3=0x1018
for usage in system host guest,system@100; do
	wrong "usage $usage" "never traces root" --trace=rtit --usage="$usage"
done
wrong "a trace that changes hands" "not both" --trace=rtit --usage=guest,owned@100

# run NAME ENGINE OPTION...: a host's trace, its packets without what only time moves.
run() {
	file=$dir/$1
	engine=$2
	payload=$3
	shift 3
	"$VPT" run -q --timeout=60 --engine="$engine" --trace=rtit --pt=host "$@" -o "$file.vpt" \
		"$GUEST/$payload.elf" >"$file.console" 2>"$file.said"
}
verified() {
	"$VPT" verify "$1" >"$dir/verified" && grep -Eq "verify: [1-9][0-9]* retired" "$dir/verified"
}

# Each option is taken, and what it makes is what ran.
for options in "" --no-retc --kernel --cyc --mtc --mtc=3 --tsc --less-pkts --psb=0 --disable-pgd \
	--clear-lag=4 --errata=none --errata=E1,E3 --model=airmont --cbr=20,34@5000,10@9000:5000 \
	"--cyc --mtc=1 --tsc --less-pkts --psb=3" "--filter=put_number --filter=vprintk" \
	"--filter=vprintk --cyc --mtc" "--buffer=200:900 --cyc"; do
	# shellcheck disable=SC2086
	tap_run "run $options" run one soft quicksort --oracle $options
	tap_run "run $options: verified" verified "$dir/one.vpt"
done
tap_run "run --stop: the guest goes on" run one soft quicksort --stop=put_number
tap_run "run --stop: the trace ends there" sh -c \
	"'$VPT' info '$dir/one.vpt' | grep -q 'session 0 .*TraceStop'"
run one soft ring3 --user --oracle
tap_run "run --user: verified" verified "$dir/one.vpt"

# The file says what it is.
run one soft calls --errata=E1,E8 --model=airmont
tap_run "the file's model" sh -c "'$VPT' info '$dir/one.vpt' | grep -q '^model  *airmont'"
tap_run "the version of files now" test "$(od -An -tu4 -j8 -N4 "$dir/one.vpt" | tr -d ' ')" = 3
"$VPT" dump "$dir/one.vpt" >"$dir/one.dump"
tap_run "packets of RTIT" grep -q "FUP.PGE" "$dir/one.dump"

# Whose it is.
"$VPT" run -q --trace=rtit --pt=host -o "$out" "$GUEST/atom_msrs.elf" >"$dir/console" 2>&1
tap_run "a host's trace: the guest has none of the registers" sh -c \
	"'$VPT' info '$out' | grep -q '^owner  *host' && grep -qi skip '$dir/console'"
tap_run "a guest's trace" "$VPT" run -q --trace=rtit --oracle -o "$out" "$GUEST/atom_msrs.elf"
tap_run "a guest's trace: verified" verified "$out"
tap_run "nobody's" "$VPT" run -q --trace=rtit --pt=off "$elf"
tap_run "--usage=guest" "$VPT" run -q --trace=rtit --usage=guest --cyc --oracle -o "$out" "$elf"
tap_run "--usage=guest: verified" verified "$out"
"$VPT" dump "$out" >"$dir/exits"
tap_run "--usage=guest: VM exits and entries" sh -c \
	"test \"\$(grep -c FUP.PGE '$dir/exits')\" -gt 10 -a \"\$(grep -c FUP.PGD '$dir/exits')\" -gt 10"
tap_run "--usage=guest, off and on again" "$VPT" run -q --trace=rtit --usage=guest,off@5000,guest@9000 \
	--oracle -o "$out" "$elf"
tap_run "--usage=guest, off and on again: verified" verified "$out"
tap_run "--usage=owned" "$VPT" run -q --trace=rtit --usage=owned --oracle -o "$out" "$elf"
tap_run "--usage=owned: verified" verified "$out"

# The same again; and stopped on the way.
for options in "" "--cyc --mtc --tsc --psb=0" "--filter=vprintk --buffer=64:8 --errata=all" \
	"--clear-lag=3 --psb=0 --buffer=200:100"; do
	# shellcheck disable=SC2086
	run whole soft processes --oracle $options
	# shellcheck disable=SC2086
	run again soft processes --oracle $options
	tap_run "two runs are the same: $options" cmp "$dir/whole.vpt" "$dir/again.vpt"
	for at in 1 5000 40000; do
		# shellcheck disable=SC2086
		run part soft processes --oracle --snapshot="$dir/s.vps" --snapshot-at=$at $options
		"$VPT" restore -q -o "$dir/rest.vpt" "$dir/s.vps" >/dev/null 2>"$dir/said"
		tap_run "stopped at $at and restored: $options" cmp "$dir/whole.vpt" "$dir/rest.vpt"
	done
done
"$VPT" run -q --engine=soft --trace=rtit --oracle -o "$dir/whole.vpt" "$GUEST/atom_wrap.elf" >/dev/null
for at in 30000 60000 90000; do
	"$VPT" run -q --engine=soft --trace=rtit --oracle --snapshot="$dir/s.vps" --snapshot-at=$at \
		-o "$dir/part.vpt" "$GUEST/atom_wrap.elf" >/dev/null
	"$VPT" restore -q -o "$dir/rest.vpt" "$dir/s.vps" >/dev/null 2>"$dir/said"
	tap_run "a guest's trace, stopped at $at and restored" cmp "$dir/whole.vpt" "$dir/rest.vpt"
done

# Without timing, engines give the same packets. CNTP counts their time.
if [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
	for payload in calls exceptions ring3 interrupts; do
		for options in "" "--filter=vprintk --no-retc"; do
			for engine in soft kvm; do
				# shellcheck disable=SC2086
				run $engine $engine $payload $options
				"$VPT" dump "$dir/$engine.vpt" | grep -v CNTP >"$dir/$engine.dump"
			done
			tap_run "$payload $options: the same packets on both engines" sh -c \
				"test -s '$dir/soft.dump' && cmp '$dir/soft.dump' '$dir/kvm.dump'"
		done
	done
else
	tap_skip "the same packets on both engines" "no KVM here"
fi
tap_end
