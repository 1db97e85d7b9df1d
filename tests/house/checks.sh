#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The house checks find what they are for: each fault below is put into a copy of
# the tree, and the check must name the file that has it.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
copy=$(mktemp -d) || exit 1
trap 'rm -rf "$copy"' EXIT
.ci/files | xargs cp -p --parents -t "$copy"
cd "$copy" || exit 1

gpl='/* SPDX-License-Identifier: GPL-2.0-or-later */'
dual='/* SPDX-License-Identifier: GPL-2.0-only OR MIT */'

# fault NAME FILE CHECK [ARG...]: FILE's content comes on stdin.
fault() {
	name=$1
	file=$2
	check=$3
	shift 3
	mkdir -p "$(dirname "$file")"
	cat >"$file"
	found=$(".ci/$check" "$@" 2>&1 | grep -A 20 '^not ok' | grep -F "$file")
	rm -f "$file"
	tap_run "$check finds $name" test -n "$found"
}

fault "a bad layout" shared/src/fault.c check-format <<EOF2
$dual
int vpt_fault(int a){return a ;}
EOF2
fault "an unknown top-level file" fault.txt check-tree <<EOF2
text
EOF2
fault "a conflict of a merge" docs/fault.md check-tree <<EOF2
$(printf '%s HEAD\none\n=======\nother\n%s 1234567 (a commit)' '<<<<<<<' '>>>>>>>')
EOF2
fault "a long file" vmm/fault.c check-tree <<EOF2
$gpl
$(seq 1000 | sed 's,.*,/* & */,')
EOF2
fault "a long function" vmm/decode/fault.c check-tree <<EOF2
$gpl
void vpt_fault(void)
{
$(seq 59 | sed 's,.*,\t/* & */,')
}
EOF2
fault "a missing licence" vmm/fault.c check-tree <<EOF2
int vpt_fault;
EOF2
fault "the wrong licence" shared/src/fault.c check-tree <<EOF2
$gpl
EOF2
fault "a machine's path" docs/fault.md check-tree <<EOF2
See /root${copy:+/}notes.
EOF2
fault "a trailing blank" docs/fault.md check-tree <<EOF2
text$(printf '\t')
EOF2
fault "unfinished work" vmm/fault.c check-tree <<EOF2
$gpl
/* TO${copy:+DO}: later */
EOF2
fault "a bare number of an MSR" vmm/fault.c check-tree <<EOF2
$gpl
static int fault(void) { return vpt_fault_rdmsr(v, 0x1b, &value); }
EOF2
fault "a second definition of an MSR" vmm/fault.h check-tree <<EOF2
$gpl
#define VPT_MSR_FAULT 0x1bu
EOF2
mv vmm/core/irq.h irq.keep
fault "state of one boolean in a vCPU" vmm/core/irq.h check-state <<EOF2
$gpl
struct core_irq {
	bool fault;
};
EOF2
fault "an integer in a vCPU that is only 0 or 1" vmm/core/irq.h check-state <<EOF2
$gpl
struct core_irq {
	uint8_t planted;
};
static inline void core_irq_plant(struct core_irq *irq, uint8_t vector) { irq->planted = vector > 31; }
EOF2
mv irq.keep vmm/core/irq.h
fault "a header that needs another" shared/include/vpt/fault.h \
	check-headers shared/include/vpt/fault.h <<EOF2
$dual
struct vpt_fault_case { uint32_t x; };
EOF2
fault "a header that is not C++" shared/include/vpt/fault.h \
	check-headers shared/include/vpt/fault.h <<EOF2
$dual
struct vpt_fault_case { int class; };
EOF2
fault "a call of libc" shared/src/fault.c check-objects shared/src/fault.c <<EOF2
$dual
int puts(const char *s);
int vpt_fault(void);
int vpt_fault(void) { return puts("x"); }
EOF2
fault "a writable global" shared/src/fault.c check-objects shared/src/fault.c <<EOF2
$dual
int vpt_fault(void);
int vpt_fault(void) { static int n; return n++; }
EOF2
fault "floating point" shared/src/fault.c check-objects shared/src/fault.c <<EOF2
$dual
int vpt_fault(int a);
int vpt_fault(int a) { return (int)(a * 1.5); }
EOF2
fault "C that is not C++" shared/src/fault.c check-objects shared/src/fault.c <<EOF2
$dual
int *vpt_fault(void *p);
int *vpt_fault(void *p) { return p; }
EOF2
fault "a foreign name" shared/src/fault.c check-objects shared/src/fault.c <<EOF2
$dual
int pt_fault(void);
int pt_fault(void) { return 1; }
EOF2
fault "a micro-operation that is called" vmm/soft/fault.c check-tail vmm/soft/fault.c <<EOF2
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
fault "a micro-operation that is called by name" vmm/soft/fault.c check-tail vmm/soft/fault.c <<EOF2
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
fault "a micro-operation called in another section" vmm/soft/fault.c check-tail vmm/soft/fault.c <<EOF2
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
# A copy without git: the check cannot name the file.
echo "$dual" >shared/src/fault.c
tap_run "check-series finds a file that QEMU's copy lacks" sh -c '! .ci/check-series >/dev/null 2>&1'
rm shared/src/fault.c
tap_run "check-series passes without it" .ci/check-series
fault "a comment without a head" vmm/fault.c check-prose <<EOF2
$gpl
/* Heads a file. */
/* What a fault does. */
EOF2
fault "a long sentence" docs/fault.md check-prose <<EOF2
$(seq -s ' ' -f 'word%g' 26).
EOF2
fault "a file without a heading" vmm/fault.c check-prose <<EOF2
$gpl
int vpt_fault;
EOF2
fault "a verb that is not the field's" vmm/fault.c check-prose <<EOF2
$gpl
/* Heads a file. */
int vpt_fault_settle(void)
EOF2
fault "libc in shared" shared/src/fault.c check-layers <<EOF2
$dual
#include <string.h>
EOF2
fault "vmm in guest" guest/lib/fault.c check-layers <<EOF2
$gpl
#include "cli/cli.h"
EOF2
fault "KVM in the decoder" vmm/decode/fault.c check-layers <<EOF2
$gpl
#include <linux/kvm.h>
EOF2
fault "libipt outside its adapter" vmm/decode/fault.c check-layers <<EOF2
$gpl
#include <intel-pt.h>
EOF2
fault "a file without a layer" vmm/fault.c check-layers <<EOF2
$gpl
EOF2
tap_run "check-names accepts the tree" .ci/check-names
fault "a name without its folder's prefix" vmm/trace/fault.h check-names <<EOF2
$gpl
int fault_of(int x);
EOF2
fault "a macro without its folder's prefix" vmm/trace/fault.h check-names <<EOF2
$gpl
#define FAULT_MOST 3
EOF2
fault "a tag that another header has" vmm/trace/fault.h check-names <<EOF2
$gpl
struct trace_session {
	int x;
};
EOF2
fault "a public name outside the public headers" vmm/trace/fault.c check-names <<EOF2
$gpl
int vpt_moon(int x)
{
	return x;
}
EOF2
fault "an include without its folder" vmm/trace/fault.c check-names <<EOF2
$gpl
#include "format.h"
EOF2
tap_run "check-cycles accepts the tree" .ci/check-cycles
fault "a new cycle, by way of a pointer" vmm/decode/fault.c check-cycles <<EOF2
$gpl
#include "decode/flow_ops.h"
static void fault_close(struct decode_flow *flow)
{
	decode_flow_close(flow);
}
const struct decode_flow_ops fault_ops = {.close = fault_close};
EOF2
fault "a cycle that another file joins" shared/src/fault.c check-cycles <<EOF2
$dual
#include "output_scheme.h"
void vpti_stream_flush(struct vpt_output *out)
{
	vpt_output_flush(out);
}
EOF2
echo "cycle shared/src/caps.c shared/src/clock.c" >>.ci/cycles
tap_run "check-cycles finds a listed cycle that is gone" sh -c \
	'.ci/check-cycles | grep "gone.*: shared/src/caps.c shared/src/clock.c$"'
# What the map says is proved stands for what the unit tests record.
mkdir records
awk -F ' [|] ' '/^[|] [A-Z][A-Z0-9]*-/ {
	n = split($5, file, "<br>")
	for (i = 1; i <= n; i++)
		print substr($1, 3) "\t" file[i]
}' docs/spec-map.md >records/map.proofs
tap_run "check-spec accepts the tree" sh -c '! .ci/check-spec records | grep -A 5 "^not ok"'
fault "an unknown tag" shared/src/fault.c check-spec records <<EOF2
$dual
/* [NO-SUCH-FACT] */
EOF2
fault "an unproved fact" shared/spec/fault.def check-spec records <<EOF2
$dual
/*
 * VPT_RULE(tag, section, rule)
 */
VPT_RULE(FAULT-TAG, "33.1", "a fact")
EOF2
fault "an assertion after a proof" tests/unit/test_fault.c check-spec records <<EOF2
$gpl
START_TEST(fault)
{
	TEST_PROVES("CTL-OS"
		   " CTL-USER");
	ck_assert(0);
}
END_TEST
EOF2

# proof NAME FOUND TEXT: a program whose test has the body TEXT runs, and check-spec must find
# TIME-MOON unproved if FOUND is set, or else proved.
cat >shared/spec/moon.def <<EOF2
$dual
/*
 * VPT_RULE(tag, section, rule)
 */
VPT_RULE(TIME-MOON, "33.1", "the moon is made of TSC packets")
EOF2
cat >shared/src/moon.c <<EOF2
$dual
/* [TIME-MOON] */
EOF2
proof() {
	cat >tests/unit/test_moon.c <<-EOF2
		$gpl
		#include "lib/suite.h"
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
	tap_run "a program that $1 is built" ${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -Itests -o test_moon \
		tests/unit/test_moon.c tests/lib/main.c tests/lib/proofs.c -lcheck -lsubunit -lm -lrt -lpthread
	tests/lib/run.sh -d moon ./test_moon >/dev/null
	cat records/map.proofs moon/*.proofs >moon/all.proofs 2>/dev/null
	found=$(.ci/check-spec moon | grep 'no test has proved TIME-MOON')
	tap_run "check-spec judges a program that $1" test "${found:+yes}" = "$2"
}
proof "names a fact in a comment" yes '/* TEST_PROVES("TIME-MOON") */'
proof "fails before its proof" yes 'ck_assert(0); TEST_PROVES("TIME-MOON");'
proof "does not reach its proof" yes 'if (_i == 0) return; TEST_PROVES("TIME-MOON");'
proof "proves a fact" "" 'ck_assert(1); TEST_PROVES("TIME-MOON");'
proof "proves what is no fact" yes 'TEST_PROVES("TIME-SUN");'
tap_run "check-spec finds a proof of nothing" sh -c \
	'.ci/check-spec moon | grep -q "moon proves TIME-SUN, which is not in shared/spec"'

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
# softer WHAT FLAG...: check-hardened names the row WHAT of a program that is built so.
softer() {
	what=$1
	shift
	# shellcheck disable=SC2086 # a list of flags
	${CC:-gcc} $hardened -o soft soft.c "$@" || return
	found=$(.ci/check-hardened soft | sed -n "s/^not ok [0-9]* - soft: //p")
	if [ -z "$what" ]; then
		tap_empty "check-hardened: a program without a fault" "$found"
	else
		printf "%s\n" "$found" >found
		tap_run "check-hardened finds a fault: not \"$what\"" grep -qxF "$what" found
	fi
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
found=$(.ci/check-hardened soft.a | grep -F 'soft.a(soft.o)')
tap_run "check-hardened finds an object without CET" test -n "$found"
tap_end
