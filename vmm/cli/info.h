/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of `vpt info`: shared by info*.c and nothing else. */
#ifndef VMM_CLI_INFO_H
#define VMM_CLI_INFO_H

#include "trace/reader.h"

const char *vpt_info_owner(uint32_t owner);
const char *vpt_info_error(const struct vpt_session *end);

/* What a bit of IA32_RTIT_CTL adds to a trace; NULL past the last. */
struct vpt_info_source {
	uint64_t ctl;
	const char *name;
};
const struct vpt_info_source *vpt_info_source(unsigned int i);

/* info_json.c: all of it on a line. */
void vpt_info_json(const struct vpt_reader *r);

#endif /* VMM_CLI_INFO_H */
