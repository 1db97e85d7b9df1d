/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions, context and time of what is told once more: for retell.c. */
#ifndef VMM_EXPORT_RETELL_SESSION_H
#define VMM_EXPORT_RETELL_SESSION_H

#include "export/retell.h"

/* Be in the session of an item, which is the first of those that come there. */
void export_retell_session(struct export_retell *r, const struct decode_item *item);

/* The one that runs ends, and so do those that nothing was told of. */
void export_retell_end(struct export_retell *r);

/* Does the session that runs choose by CR3? */
bool export_retell_by_cr3(const struct export_retell *r);

/* Of retell.c: what is traced ends here. */
void export_retell_leave(struct export_retell *r);

/* It is as late as the packet that led to the item. */
void export_retell_time(struct export_retell *r, const struct decode_item *item);

/* Of the context: 16, 32, 64. */
uint8_t export_retell_mode(const struct export_retell *r);
void export_retell_set_mode(struct export_retell *r, unsigned int mode);

#endif /* VMM_EXPORT_RETELL_SESSION_H */
