/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The software CPU as an engine. */
#ifndef VMM_SOFT_ENGINE_H
#define VMM_SOFT_ENGINE_H

#include "engine/engine.h"

extern const struct engine soft_engine;

#endif /* VMM_SOFT_ENGINE_H */
