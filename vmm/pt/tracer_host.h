/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host of libvpt's trace unit, with the tracer as its opaque pointer. */
#ifndef VMM_PT_TRACER_HOST_H
#define VMM_PT_TRACER_HOST_H

#include "pt/tracer.h"

/* Record bytes of a host's trace. */
void tracer_host_stream(void *opaque, const void *bytes, size_t len);

#endif /* VMM_PT_TRACER_HOST_H */
