/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A request to the monitor is a JSON object on one line:
 * {"execute": NAME, "arguments": {...}, "id": ANY}. The answer is {"return": {...}, "id": ANY} or
 * {"error": {"desc": TEXT}, "id": ANY}. QEMU's machine protocol has the same form.
 */
#ifndef VMM_CLI_MONITOR_REQUEST_H
#define VMM_CLI_MONITOR_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vpt/caps.h"

enum cli_monitor_command {
	CLI_MONITOR_STATUS,
	CLI_MONITOR_INPUT,
	CLI_MONITOR_MARK,
	CLI_MONITOR_SNAPSHOT,
	CLI_MONITOR_TRACE_START,
	CLI_MONITOR_TRACE_STOP,
	CLI_MONITOR_QUIT,
};

/* Room for the text of an error. */
#define CLI_MONITOR_WHY 256

struct cli_monitor_request {
	json_t *root; /* what the pointers point into */
	const json_t *id;
	enum cli_monitor_command command;
	const char *text; /* of input and mark */
	bool is_line;	  /* of input: a line feed follows the text */
	uint64_t vcpu;	  /* of mark, trace-start and trace-stop */
	bool has_vcpu;	  /* it was given */
	/* trace-start: whether an argument besides vcpu was given; then those that follow */
	bool has_arguments, user, kernel, has_cr3;
	uint64_t cr3;
	struct {
		const char *text;
		bool stop;
	} range[VPT_MAX_RANGES];
	size_t ranges;
};

/*
 * Parse a request. Returns false, and sets @why, if it is none. Call cli_monitor_request_free() in
 * both cases; the id of a bad request may be known.
 */
bool cli_monitor_request_parse(struct cli_monitor_request *r, const char *text, size_t len,
			       char why[CLI_MONITOR_WHY]);
void cli_monitor_request_free(struct cli_monitor_request *r);

/* Make the answer. Both return text for free(), or NULL without memory. @result is consumed. */
char *cli_monitor_result(const struct cli_monitor_request *r, json_t *result);
char *cli_monitor_error(const struct cli_monitor_request *r, const char *why);

#endif /* VMM_CLI_MONITOR_REQUEST_H */
