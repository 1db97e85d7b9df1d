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
fault "a long file" vmm/fault.c check-tree <<EOF2
$gpl
$(seq 1000 | sed 's,.*,/* & */,')
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
const struct vpt_uop *vpt_fault(struct vpt_soft *c, const struct vpt_uop *u);
VPT_UOP(escapes)
{
	uint8_t value[8];

	vpt_soft_read(c, u, 0, value, sizeof(value));
	return VPT_NEXT(c, u);
}
const struct vpt_uop *vpt_fault(struct vpt_soft *c, const struct vpt_uop *u)
{
	return escapes(c, u);
}
EOF2
fault "a micro-operation that is called by name" vmm/soft/fault.c check-tail vmm/soft/fault.c <<EOF2
$gpl
#include "soft/soft.h"
const struct vpt_uop *vpt_fault(struct vpt_soft *c, const struct vpt_uop *u);
const struct vpt_uop *vpt_fault_next(struct vpt_soft *c, const struct vpt_uop *u);
const struct vpt_uop *vpt_fault(struct vpt_soft *c, const struct vpt_uop *u)
{
	const struct vpt_uop *next = vpt_fault_next(c, u);

	c->left--;
	return next;
}
EOF2
fault "a micro-operation called in another section" vmm/soft/fault.c check-tail vmm/soft/fault.c <<EOF2
$gpl
#include "soft/soft.h"
const struct vpt_uop *vpt_fault(struct vpt_soft *c, const struct vpt_uop *u);
static __attribute__((noinline, cold)) const struct vpt_uop *slow(struct vpt_soft *c,
								  const struct vpt_uop *u)
{
	c->missed = NULL;
	return VPT_NEXT(c, u);
}
const struct vpt_uop *vpt_fault(struct vpt_soft *c, const struct vpt_uop *u)
{
	const struct vpt_uop *next = slow(c, u);

	c->left--;
	return next;
}
EOF2
fault "a file that QEMU's copy lacks" shared/src/fault.c check-series <<EOF2
$dual
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
fault "an unknown tag" shared/src/fault.c check-spec <<EOF2
$dual
/* [NO-SUCH-FACT] */
EOF2
fault "an unproved fact" shared/spec/fault.def check-spec <<EOF2
$dual
/*
 * VPT_RULE(tag, section, rule)
 */
VPT_RULE(FAULT-TAG, "33.1", "a fact")
EOF2
fault "proof of nothing" tests/unit/fault.c check-spec <<EOF2
$gpl
void f(void) { VPT_PROVES("CTL-OS"
	" NO-SUCH-FACT"); }
EOF2
tap_end
