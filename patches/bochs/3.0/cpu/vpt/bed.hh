/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The test bed around the machine: ports by which software in it talks to whoever runs
 * it, and files below VPT_TESTBED_DIR. Without that variable there are no ports.
 */
#ifndef BX_VPT_BED_H
#define BX_VPT_BED_H

class bx_vpt_c;

/* The trace unit of a CPU is ready. The ports come with the first one. */
void bx_vpt_bed_attach(bx_vpt_c *vpt);

#endif
