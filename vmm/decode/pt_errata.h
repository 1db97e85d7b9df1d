/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The errata of the processor that wrote a trace, for libvptdecode. */
#ifndef VMM_DECODE_PT_ERRATA_H
#define VMM_DECODE_PT_ERRATA_H

#include "libdecode/pt.h"
#include "trace/reader.h"

/*
 * Add the errata in a file to a session's configuration: the errata of the processor, and the
 * ranges that some of them need. A trace that no processor wrote has none.
 */
void decode_pt_errata(const struct trace_reader *reader, const struct trace_session *session,
		      struct dec_pt_config *config);

#endif /* VMM_DECODE_PT_ERRATA_H */
