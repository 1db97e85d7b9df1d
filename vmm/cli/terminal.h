/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's text on its way to a stream. On a terminal, control characters could retitle windows,
 * fill the clipboard, or make the terminal type. The filter shows them instead. Files and pipes
 * receive the guest's bytes unchanged.
 */
#ifndef VMM_CLI_TERMINAL_H
#define VMM_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cli_terminal {
	FILE *to;
	bool filtered;
	bool utf8;	  /* the terminal's encoding; if clear, bytes above 7EH are shown as
	          	   * \\xNN */
	uint8_t part[4];  /* an incomplete UTF-8 sequence */
	uint8_t len, all; /* number of bytes in @part, and length of the whole sequence */
};

/* Filter the output if @to is a terminal. The locale of the environment determines its encoding. */
void cli_terminal_open(struct cli_terminal *t, FILE *to);

/*
 * Print a byte. Line feed, carriage return, tab, backspace and printable characters pass. Other
 * control characters become ^X, C1 and bidirectional controls \u{NNNN}, and bytes that are no
 * UTF-8 \xNN. Returns false if the stream reports an error.
 */
bool cli_terminal_put(struct cli_terminal *t, uint8_t byte);

/* Show the bytes of an incomplete sequence. Returns as cli_terminal_put() does. */
bool cli_terminal_end(struct cli_terminal *t);

#endif /* VMM_CLI_TERMINAL_H */
