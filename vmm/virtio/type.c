// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of the kinds of devices. */
#include "virtio/device.h"

static const struct virtio_type *const types[] = {
#define VIRTIO_KIND(NAME, id, type) [VIRTIO_##NAME] = &virtio_type_##type,
#include "virtio/kinds.def"
};

const struct virtio_type *virtio_type_of(enum virtio_kind kind)
{
	return types[kind];
}

uint32_t virtio_class_code(enum virtio_kind kind)
{
	return types[kind]->class_code;
}
