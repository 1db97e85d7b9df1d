#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The house checks find what they are for: faults are put into a copy of the tree, each into a
# file of its own. A check runs once with all of its faults, and must name each file under the
# line of the rule that the file breaks.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
copy=$(mktemp -d) || exit 1
said=$copy.said
trap 'rm -rf "$copy" "$said"' EXIT
.ci/files | xargs cp -p --parents -t "$copy"
cd "$copy" || exit 1

gpl='/* SPDX-License-Identifier: GPL-2.0-or-later */'
dual='/* SPDX-License-Identifier: GPL-2.0-only OR MIT */'

# fault NAME FILE RULE: the next `seek` looks for it. FILE's content comes on stdin; RULE is the start
# of the name of the check's result that must report it.
faults=0
fault() {
	faults=$((faults + 1))
	eval "name_$faults=\$1 file_$faults=\$2 rule_$faults=\$3"
	mkdir -p "$(dirname "$2")"
	cat >"$2"
}

# seek CHECK [ARG...]: run it, look for the faults since the last `seek`, and remove them. Its output
# is left in $said.
seek() {
	check=$1
	shift
	".ci/$check" "$@" >"$said" 2>&1
	while [ "$faults" -gt 0 ]; do
		name='' file='' rule=''
		eval "name=\$name_$faults file=\$file_$faults rule=\$rule_$faults"
		if awk -v file="$file" -v rule="$rule" '
			/^(not )?ok / {
				text = $0
				sub(/^(not )?ok [0-9]+ - /, "", text)
				on = /^not/ && index(text, rule) == 1
			}
			on && index($0, file) { found = 1 }
			END { exit !found }' "$said"; then
			tap_ok "$check finds $name"
		else
			tap_fail "$check finds $name" "$(grep -A 20 '^not ok' "$said" | head -n 60)"
		fi
		rm -f "$file"
		faults=$((faults - 1))
	done
}

fault "a bad layout" shared/src/fault_layout.c shared/src/fault_layout.c <<EOF2
$dual
int vpt_fault(int a){return a ;}
EOF2
seek check-format 'shared/src/fault_*.c' 'shared/src/caps.*'
fault "an unknown top-level file" fault.txt "top level is exact" <<EOF2
text
EOF2
fault "a conflict of a merge" docs/fault_merge.md "no conflict of a merge" <<EOF2
$(printf '%s HEAD\none\n=======\nother\n%s 1234567 (a commit)' '<<<<<<<' '>>>>>>>')
EOF2
fault "a long file" vmm/fault_long.c "no file has more than" <<EOF2
$gpl
$(seq 1000 | sed 's,.*,/* & */,')
EOF2
fault "a long function" vmm/decode/fault_function.c "no function of the decoders" <<EOF2
$gpl
void vpt_fault(void)
{
$(seq 59 | sed 's,.*,\t/* & */,')
}
EOF2
fault "a missing licence" vmm/fault_licence.c "everything else is GPL" <<EOF2
int vpt_fault;
EOF2
fault "the wrong licence" shared/src/fault_licence.c "libraries are GPL-2.0-only OR MIT" <<EOF2
$gpl
EOF2
fault "a machine's path" docs/fault_path.md "no path of a machine" <<EOF2
See /root${copy:+/}notes.
EOF2
fault "a trailing blank" docs/fault_blank.md "no trailing blank" <<EOF2
text$(printf '\t')
EOF2
fault "unfinished work" vmm/fault_work.c "no unfinished work" <<EOF2
$gpl
/* TO${copy:+DO}: later */
EOF2
fault "a bare number of an MSR" vmm/fault_msr.c "no bare number of an MSR" <<EOF2
$gpl
static int fault(void) { return vpt_fault_rdmsr(v, 0x1b, &value); }
EOF2
fault "a second definition of an MSR" vmm/fault_msr.h "no bare number of an MSR" <<EOF2
$gpl
#define VPT_MSR_FAULT 0x1bu
EOF2
seek check-tree
mv vmm/core/irq.h irq.keep
fault "state of one boolean in a vCPU" vmm/core/irq.h "a vCPU has no new state of one bit" <<EOF2
$gpl
struct core_irq {
	bool fault;
	uint8_t planted;
};
static inline void core_irq_plant(struct core_irq *irq, uint8_t vector) { irq->planted = vector > 31; }
EOF2
seek check-state
tap_run "check-state names the boolean" grep -qxF '# vmm/core/irq.h: core_irq.fault (boolean)' "$said"
tap_run "check-state finds an integer in a vCPU that is only 0 or 1" \
	grep -qxF '# vmm/core/irq.h: core_irq.planted (integer)' "$said"
mv irq.keep vmm/core/irq.h
fault "a header that needs another" shared/include/vpt/fault_needs.h \
	"shared/include/vpt/fault_needs.h as c11" <<EOF2
$dual
struct vpt_fault_case { uint32_t x; };
EOF2
fault "a header that is not C++" shared/include/vpt/fault_cxx.h \
	"shared/include/vpt/fault_cxx.h as cxx" <<EOF2
$dual
struct vpt_fault_case { int class; };
EOF2
fault "a header of vmm that needs another" vmm/core/fault_needs.h "vmm/core/fault_needs.h as vmm" <<EOF2
$gpl
struct core_fault { uint32_t x; };
EOF2
# This file includes no header first, so check-headers has to compile it.
echo "#include <stdint.h>" >vmm/core/fault_needs.c
seek check-headers shared/include/vpt/fault_needs.h shared/include/vpt/fault_cxx.h vmm/core/fault_needs.h
rm vmm/core/fault_needs.c
fault "a call of libc" shared/src/fault_libc.c \
	"shared/src/fault_libc.c as freestanding: needs nothing from outside" <<EOF2
$dual
int puts(const char *s);
int vpt_fault(void);
int vpt_fault(void) { return puts("x"); }
EOF2
fault "a writable global" shared/src/fault_global.c \
	"shared/src/fault_global.c as freestanding: has no writable data" <<EOF2
$dual
int vpt_fault(void);
int vpt_fault(void) { static int n; return n++; }
EOF2
fault "floating point" shared/src/fault_float.c "shared/src/fault_float.c as kernel" <<EOF2
$dual
int vpt_fault(int a);
int vpt_fault(int a) { return (int)(a * 1.5); }
EOF2
fault "C that is not C++" shared/src/fault_cxx.c "shared/src/fault_cxx.c as cxx" <<EOF2
$dual
int *vpt_fault(void *p);
int *vpt_fault(void *p) { return p; }
EOF2
fault "a foreign name" shared/src/fault_name.c \
	"shared/src/fault_name.c as freestanding: exports vpt_ and vpti_ names only" <<EOF2
$dual
int pt_fault(void);
int pt_fault(void) { return 1; }
EOF2
seek check-objects 'shared/src/fault_*.c'
fault "a micro-operation that is called" vmm/soft/fault_pointer.c \
	"vmm/soft/fault_pointer.c: micro-operations go on by a jump" <<EOF2
$gpl
#include "soft/soft.h"
const struct soft_uop *vpt_fault(struct soft *c, const struct soft_uop *u);
SOFT_UOP(escapes)
{
	uint8_t value[8];

	soft_read(c, u, 0, value, sizeof(value));
	return SOFT_NEXT(c, u);
}
const struct soft_uop *vpt_fault(struct soft *c, const struct soft_uop *u)
{
	return escapes(c, u);
}
EOF2
fault "a micro-operation that is called by name" vmm/soft/fault_call.c \
	"vmm/soft/fault_call.c: micro-operations go on by a jump" <<EOF2
$gpl
#include "soft/soft.h"
const struct soft_uop *vpt_fault(struct soft *c, const struct soft_uop *u);
const struct soft_uop *vpt_fault_next(struct soft *c, const struct soft_uop *u);
const struct soft_uop *vpt_fault(struct soft *c, const struct soft_uop *u)
{
	const struct soft_uop *next = vpt_fault_next(c, u);

	c->left--;
	return next;
}
EOF2
fault "a micro-operation called in another section" vmm/soft/fault_section.c \
	"vmm/soft/fault_section.c: micro-operations go on by a jump" <<EOF2
$gpl
#include "soft/soft.h"
const struct soft_uop *vpt_fault(struct soft *c, const struct soft_uop *u);
static __attribute__((noinline, cold)) const struct soft_uop *slow(struct soft *c,
								  const struct soft_uop *u)
{
	c->missed = NULL;
	return SOFT_NEXT(c, u);
}
const struct soft_uop *vpt_fault(struct soft *c, const struct soft_uop *u)
{
	const struct soft_uop *next = slow(c, u);

	c->left--;
	return next;
}
EOF2
seek check-tail 'vmm/soft/fault_*.c'
# A copy without git: the check cannot name the file. The list of checks has it of the tree itself.
echo "$dual" >shared/src/fault.c
.ci/check-series >"$said"
tap_run "check-series finds a file that QEMU's copy lacks" grep -q '^# qemu: the library is not that of ' "$said"
rm shared/src/fault.c
fault "a comment without a head" vmm/fault_comment.c "no new prose breaks a rule" <<EOF2
$gpl
/* Heads a file. */
/* What a fault does. */
EOF2
fault "a long sentence" docs/fault_sentence.md "no new prose breaks a rule" <<EOF2
$(seq -s ' ' -f 'word%g' 26).
EOF2
fault "a file without a heading" vmm/fault_heading.c "no new prose breaks a rule" <<EOF2
$gpl
int vpt_fault;
EOF2
fault "a verb that is not the field's" vmm/fault_verb.c "no new prose breaks a rule" <<EOF2
$gpl
/* Heads a file. */
int vpt_fault_settle(void)
EOF2
seek check-prose
fault "libc in shared" shared/src/fault_libc.c "includes go downwards" <<EOF2
$dual
#include <string.h>
EOF2
fault "vmm in guest" guest/lib/fault_vmm.c "includes go downwards" <<EOF2
$gpl
#include "cli/cli.h"
EOF2
fault "KVM in the decoder" vmm/decode/fault_kvm.c "includes go downwards" <<EOF2
$gpl
#include <linux/kvm.h>
EOF2
fault "libipt outside its adapter" vmm/decode/fault_libipt.c "includes go downwards" <<EOF2
$gpl
#include <intel-pt.h>
EOF2
fault "a file without a layer" vmm/fault_layer.c "the layer table has a row for every C file" <<EOF2
$gpl
EOF2
seek check-layers
fault "a name without its folder's prefix" vmm/trace/fault_name.h \
	"names of headers begin with their folder's prefix" <<EOF2
$gpl
int fault_of(int x);
EOF2
fault "a macro without its folder's prefix" vmm/trace/fault_macro.h \
	"names of headers begin with their folder's prefix" <<EOF2
$gpl
#define FAULT_MOST 3
EOF2
fault "a tag that another header has" vmm/trace/fault_tag.h "each tag is in one header" <<EOF2
$gpl
struct trace_session {
	int x;
};
EOF2
fault "a public name outside the public headers" vmm/trace/fault_public.c \
	"vpt_ and vptd_ are public names alone" <<EOF2
$gpl
int vpt_moon(int x)
{
	return x;
}
EOF2
fault "an include without its folder" vmm/trace/fault_include.c \
	"includes of vmm and tests name a folder" <<EOF2
$gpl
#include "format.h"
EOF2
seek check-names
fault "a new cycle, by way of a pointer" vmm/decode/fault_pointer.c "calls between files" <<EOF2
$gpl
#include "decode/flow_ops.h"
static void fault_close(struct decode_flow *flow)
{
	decode_flow_close(flow);
}
const struct decode_flow_ops fault_ops = {.close = fault_close};
EOF2
fault "a cycle that another file joins" shared/src/fault_joins.c "calls between files" <<EOF2
$dual
#include "output_scheme.h"
void vpti_stream_flush(struct vpt_output *out)
{
	vpt_output_flush(out);
}
EOF2
echo "cycle shared/src/caps.c shared/src/clock.c" >>.ci/cycles
seek check-cycles
tap_run "check-cycles finds a listed cycle that is gone" \
	grep -q "gone.*: shared/src/caps.c shared/src/clock.c$" "$said"
# What the map says is proved stands for what the unit tests record.
mkdir records
awk -F ' [|] ' '/^[|] [A-Z][A-Z0-9]*-/ {
	n = split($5, file, "<br>")
	for (i = 1; i <= n; i++)
		print substr($1, 3) "\t" file[i]
}' docs/spec-map.md >records/map.proofs
tap_run "check-spec accepts the tree" sh -c '! .ci/check-spec records | grep -A 5 "^not ok"'
fault "an unknown tag" shared/src/fault_tag.c "tags are unique and known" <<EOF2
$dual
/* [NO-SUCH-FACT] */
EOF2
echo "/* [FAULT-TAG] */" >shared/src/fault_cites.c
fault "an unproved fact" shared/spec/fault.def "every fact is proved by a test" <<EOF2
$dual
/*
 * VPT_RULE(tag, section, rule)
 */
VPT_RULE(FAULT-TAG, "33.1", "a fact")
EOF2
fault "an assertion after a proof" tests/unit/test_fault.c "TEST_PROVES is the last statement of a test" <<EOF2
$gpl
START_TEST(fault)
{
	TEST_PROVES("CTL-OS"
		   " CTL-USER");
	ck_assert(0);
}
END_TEST
EOF2
seek check-spec records
rm shared/src/fault_cites.c

# proof NAME PROVED TEXT: a program whose test has the body TEXT, in which FACT is a fact of its
# own. check-spec must find FACT proved if PROVED is set, or else unproved.
proofs=0
mkdir -p moon
proof() {
	proofs=$((proofs + 1))
	eval "proof_$proofs=\$1 proved_$proofs=\$2"
	cat >>shared/spec/moon.def <<-EOF2
		VPT_RULE(MOON-$proofs, "33.1", "the moon is made of TSC packets")
	EOF2
	echo "/* [MOON-$proofs] */" >>shared/src/moon.c
	cat >"tests/unit/test_moon_$proofs.c" <<-EOF2
		$gpl
		#include "lib/suite.h"
		#define FACT "MOON-$proofs"
		START_TEST(moon)
		{
			$3
		}
		END_TEST
		Suite *test_suite(void)
		{
			Suite *suite = suite_create("moon");
			TCase *tcase = tcase_create("moon");
			tcase_add_test(tcase, moon);
			suite_add_tcase(suite, tcase);
			return suite;
		}
	EOF2
}
cat >shared/spec/moon.def <<EOF2
$dual
/*
 * VPT_RULE(tag, section, rule)
 */
EOF2
echo "$dual" >shared/src/moon.c
proof "names a fact in a comment" "" '/* TEST_PROVES(FACT) */'
proof "fails before its proof" "" 'ck_assert(0); TEST_PROVES(FACT);'
proof "does not reach its proof" "" 'if (_i == 0) return; TEST_PROVES(FACT);'
proof "proves a fact" yes 'ck_assert(1); TEST_PROVES(FACT);'
proof "proves what is no fact" "" 'TEST_PROVES("MOON-SUN");'
build="${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -I$PWD/tests"
# shellcheck disable=SC2086 # a list of flags
(cd moon && $build -c ../tests/lib/main.c ../tests/lib/proofs.c ../tests/unit/test_moon_*.c)
programs=
for n in $(seq $proofs); do
	eval "name=\$proof_$n"
	# shellcheck disable=SC2086
	tap_run "a program that $name is built" $build -o "moon/test_moon_$n" "moon/test_moon_$n.o" \
		moon/main.o moon/proofs.o -lcheck -lsubunit -lm -lrt -lpthread
	programs="$programs moon/test_moon_$n"
done
# shellcheck disable=SC2086 # a list of programs
tests/lib/run.sh -d moon_records $programs >/dev/null
cp records/map.proofs moon_records
.ci/check-spec moon_records >"$said"
for n in $(seq $proofs); do
	eval "name=\$proof_$n proved=\$proved_$n"
	unproved=$(grep -F "no test has proved MOON-$n" "$said")
	tap_run "check-spec judges a program that $name" test "${unproved:-yes}" = "${proved:-$unproved}"
done
tap_run "check-spec finds a proof of nothing" \
	grep -q 'test_moon_5.c: moon proves MOON-SUN, which is not in shared/spec' "$said"

# A program that is hardened, and the same with one fault each. CC may be a path with options.
cat >soft.c <<EOF2
#include <string.h>
int main(int argc, char **argv)
{
	char copy[64];
	memcpy(copy, argv[0], (size_t)argc);
	return copy[0] == 'x';
}
EOF2
hardened="-O2 -g -fPIE -fcf-protection=full -fstack-clash-protection -fstack-protector-strong
	-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -pie -Wl,-z,relro,-z,now,-z,noexecstack"
# softer WHAT FLAG...: check-hardened must name the row WHAT of a program that is built so, and
# no row of one without a fault.
soft=0
softer() {
	soft=$((soft + 1))
	eval "what_$soft=\$1"
	shift
	# shellcheck disable=SC2086 # a list of flags
	${CC:-gcc} $hardened -o "soft_$soft" soft.c "$@"
}
softer ""
softer "position-independent" -fno-pie -no-pie
softer "read-only after relocation" -Wl,-z,norelro
softer "bound before it starts" -Wl,-z,lazy
softer "no executable stack" -Wl,-z,execstack
softer "no search path of its own" -Wl,-rpath,/nowhere
softer "stack protectors" -fno-stack-protector
softer "checked string functions" -U_FORTIFY_SOURCE
softer "stacks grow page by page" -fno-stack-clash-protection
${CC:-gcc} -c -fcf-protection=none -o soft.o soft.c && ar rcs soft.a soft.o
.ci/check-hardened $(seq -f 'soft_%g' $soft) soft.a >"$said"
for n in $(seq $soft); do
	eval "what=\$what_$n"
	found=$(sed -n "s/^not ok [0-9]* - soft_$n: //p" "$said")
	if [ -z "$what" ]; then
		tap_run "check-hardened looks at a program without a fault" grep -q "^ok [0-9]* - soft_$n: " "$said"
		tap_empty "check-hardened: a program without a fault" "$found"
	else
		tap_run "check-hardened finds a fault: not \"$what\"" sh -c "echo '$found' | grep -qxF '$what'"
	fi
done
tap_run "check-hardened finds an object without CET" grep -qF 'soft.a(soft.o)' "$said"
tap_end
