# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Source it: the software CPU with payloads that have some of everything.

VPT=${O:-build/${MODE:-rel}}/vpt
GUEST=${O:-build/${MODE:-rel}}/guest

# "payload options" of each setting, one a line.
settings() {
	cat <<-END
		quicksort --pt=guest
		interrupts --pt=host
		processes --pt=guest --oracle
		selfmod --pt=host --oracle
		topa_int --pt=guest
		preserve --pt=guest --model=spr
		ring3 --pt=host --user
		topa_wrap --pt=guest --model=icx
		jit --pt=host --no-retc
		timer --pt=guest --oracle
		simd --pt=host
		random --pt=guest --seed=7
		filter_ip --pt=guest
		demand --pt=host --tsc
		calls --pt=host --filter=fibonacci
		timer --pt=host --tsc --mtc --cyc
		interrupts --pt=host --model=spr --tsc --mtc=0 --cyc=5 --cyc-bits=8 --cbr=33 --events
		quicksort --pt=host --tsc --mtc --cyc --buffer=256:200
		smp --pt=host --cpus=4
		shared_timer --pt=host --cpus=3
		smp --pt=host --cpus=3 --oracle --tsc --mtc --model=spr
		bytecode --pt=guest --defer-tips --buffer=512:400
	END
}

# soft NAME OUTPUT PAYLOAD OPTION...: run a payload; what it says goes to $dir/NAME.
soft() {
	so_name=${dir:?}/$1
	so_file=$2
	so_payload=$3
	shift 3
	"$VPT" run -q --engine=soft --timeout=300 "$@" -o "$so_file" "$GUEST/$so_payload.elf" \
		>"$so_name" 2>"$so_name.err"
}
