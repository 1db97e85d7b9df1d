/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BED_TRACES_PERFDATA_H
#define BED_TRACES_PERFDATA_H

#include "perf.h"

/* Export a perf.data with a trace of this thread and the mapping of its program. */
void perf_data_export(const char *name, const struct perf_pt *pt);

#endif
