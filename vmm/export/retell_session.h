/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions, context and time of what is told once more: for retell.c. */
#ifndef VMM_EXPORT_RETELL_SESSION_H
#define VMM_EXPORT_RETELL_SESSION_H

#include "retell.h"

/* Be in the session of an item, which is the first of those that come there. */
void vpt_retell_session(struct vpt_retell *r, const struct vpt_item *item);

/* The one that runs ends, and so do those that nothing was told of. */
void vpt_retell_end(struct vpt_retell *r);

/* Does the session that runs choose by CR3? */
bool vpt_retell_by_cr3(const struct vpt_retell *r);

/* Of retell.c: what is traced ends here. */
void vpt_retell_leave(struct vpt_retell *r);

/* It is as late as the packet that led to the item. */
void vpt_retell_time(struct vpt_retell *r, const struct vpt_item *item);

/* Of the context: 16, 32, 64. */
uint8_t vpt_retell_mode(const struct vpt_retell *r);
void vpt_retell_set_mode(struct vpt_retell *r, unsigned int mode);

#endif /* VMM_EXPORT_RETELL_SESSION_H */
