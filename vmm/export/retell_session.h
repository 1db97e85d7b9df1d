/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions, context and time of a converted trace, for retell.c. */
#ifndef VMM_EXPORT_RETELL_SESSION_H
#define VMM_EXPORT_RETELL_SESSION_H

#include "export/retell.h"

/*
 * Enter the session of an item, and write the sessions before it. Does nothing if that session is
 * active.
 */
void export_retell_session(struct export_retell *r, const struct decode_item *item);

/* End the active session, and write the sessions without items. */
void export_retell_end(struct export_retell *r);

/* Returns true if the active session filters by CR3. */
bool export_retell_by_cr3(const struct export_retell *r);

/* retell.c: leave the traced region. */
void export_retell_leave(struct export_retell *r);

/* Set the time to that of the packet of the item. */
void export_retell_time(struct export_retell *r, const struct decode_item *item);

/* Get or set the code size of the context: 16, 32 or 64. */
uint8_t export_retell_mode(const struct export_retell *r);
void export_retell_set_mode(struct export_retell *r, unsigned int mode);

#endif /* VMM_EXPORT_RETELL_SESSION_H */
