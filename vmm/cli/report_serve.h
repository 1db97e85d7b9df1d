/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vpt report --serve: the page and its details. */
#ifndef VMM_CLI_REPORT_SERVE_H
#define VMM_CLI_REPORT_SERVE_H

#include "cli/export_format.h"
#include "cli/report_http.h"

/*
 * Make the page of a trace, print its URL, and serve it until SIGINT. Returns an exit status, as
 * vpt report -o does.
 */
int cli_report_serve(struct cli_export_format *f, struct trace_reader *reader, int listener,
		     const struct cli_http_server *server);

#endif /* VMM_CLI_REPORT_SERVE_H */
