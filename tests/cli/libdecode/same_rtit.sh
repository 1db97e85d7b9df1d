#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt decodes RTIT to what ran (vpt verify), and outcomes that are gathered, pieces and tracelets make
# the same instructions and events: traces of payloads with cycle counts, filters, TraceStop,
# overflows, errata, and address spaces of a host and its guest.
# ALL=1: every payload with every configuration; else each payload has three of them.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
O=${O:-build/${MODE:-rel}}
all=${ALL:-}
compared=0 insns=0

# Of tests/run/rtit/configs, and what those leave out: guests that trace themselves, and packets that
# errata or software lose.
{
	sed -n 's/^[a-z][a-z-]*[[:blank:]]*/--pt=host /p' tests/run/rtit/configs
	cat <<'END'
--pt=guest --model=silvermont
--pt=guest --model=airmont --errata=E1,E2,E3,E5,E6,E7
--pt=host --errata=E8 --psb=0
--pt=host --errata=all --psb=0 --buffer=128:256
--pt=host --buffer=64:64 --filter=0x100000-0x102000 --filter=0x103000-0x108000 --errata=E2
--pt=host --buffer=96:300 --filter=0x100000-0x200000 --stop=0x102345-0x102400
--pt=host --buffer=64:200 --stop=0x107000-0x107100 --errata=E4
--pt=host --buffer=96:300 --psb=1 --clear-lag=4 --no-retc --tsc
--usage=guest --trap=cr3 --cyc
--usage=guest --buffer=96:300
--usage=guest,off@5000,guest@9000 --filter=0x100000-0x102000 --mtc
--usage=owned --mtc --tsc
END
} >"$dir/configs"
configs=0
while read -r line; do
	configs=$((configs + 1))
	eval "config_$configs=\$line"
done <"$dir/configs"

# E8 loses packets that nothing replaces (docs/limits.md).
verified() { # OPTION...
	case "$*" in
	*E8* | *errata=all*) ;;
	*) "$O/vpt" verify --allow-empty "$dir/t.vpt" 2>&1 ;;
	esac
}

one() { # PAYLOAD OPTION...
	name=$1
	shift
	: >"$dir/t.vpt"
	"$O/vpt" run -q --engine=soft --trace=rtit --oracle "$@" --max-insns=100000 -o "$dir/t.vpt" \
		"$O/guest/$name.elf" >/dev/null 2>&1 </dev/null
	[ -s "$dir/t.vpt" ] || return
	if output=$(verified "$@") && output=$("$O/tests/follow_atom" "$dir/t.vpt" 2>&1); then
		compared=$((compared + 1))
		last=${output##*
}
		insns=$((insns + ${last%% *}))
	else
		tap_fail "$name $*" "$output"
	fi
}

take() { # NUMBER: the configurations of a payload
	if [ "$all" ]; then
		cat "$dir/configs"
		return
	fi
	for part in 0 7 14; do
		n=$((($1 + part) % configs + 1))
		eval "echo \"\$config_$n\""
	done
}

number=0
for guest in "$O"/guest/*.elf; do
	number=$((number + 1))
	name=${guest##*/}
	name=${name%.elf}
	while read -r options; do
		# shellcheck disable=SC2086 # a command line
		one "$name" $options
	done <<-END
		$(take "$number")
	END
done
least=165
[ -z "$all" ] || least=$((55 * configs))
tap_run "at least $least traces were compared" test "$compared" -ge "$least"
tap_run "at least $((least * 20000)) instructions" test "$insns" -ge $((least * 20000))
echo "# $compared traces, $insns instructions"
tap_end
