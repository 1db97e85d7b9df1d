/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine that uses KVM. */
#ifndef VMM_ENGINE_KVM_ENGINE_H
#define VMM_ENGINE_KVM_ENGINE_H

#include "engine/engine.h"

extern const struct engine engine_kvm_engine;

#endif /* VMM_ENGINE_KVM_ENGINE_H */
