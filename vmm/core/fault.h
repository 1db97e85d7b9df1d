/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exceptions that the core itself raises. */
#ifndef VMM_CORE_FAULT_H
#define VMM_CORE_FAULT_H

#include <stdint.h>

#include "engine/engine.h"

static inline struct engine_exception core_fault_code(uint8_t vector, uint32_t error)
{
	return (struct engine_exception){.vector = vector, .has_error = true, .error = error};
}

static inline struct engine_exception core_fault_plain(uint8_t vector)
{
	return (struct engine_exception){.vector = vector};
}

#endif /* VMM_CORE_FAULT_H */
