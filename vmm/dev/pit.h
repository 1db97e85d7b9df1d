/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 8254 timer, and what port 61H makes of its third channel. A count takes effect when
 * it is written, in the periodic modes too, where the chip would end its period first.
 */
#ifndef VMM_DEV_PIT_H
#define VMM_DEV_PIT_H

#include <stdbool.h>
#include <stdint.h>

#define VPT_PIT_HZ	 1193182u
#define VPT_PIT_CHANNELS 3
#define VPT_PORT_SPEAKER 0x61u

struct vpt_pit_channel {
	uint64_t base;	 /* tick at which counting began or went on */
	uint64_t passed; /* ticks counted before that */
	uint32_t reload; /* 0: no count was written */
	uint16_t latch;
	uint8_t latched; /* bytes of `latch` to be read: 1 low, 2 high */
	uint8_t has_status, status;
	uint8_t mode, access, bcd;
	uint8_t gate;
	uint8_t started;  /* OUT follows the count */
	uint8_t counting; /* it is not held by the gate */
	uint8_t low;	  /* byte written first of two */
	uint8_t high_next_write, high_next_read;
	uint8_t spare[2];
};

struct vpt_pit {
	uint64_t now;
	uint64_t due; /* when OUT of channel 0 rises next */
	struct vpt_pit_channel channel[VPT_PIT_CHANNELS];
	uint8_t speaker; /* bits 0 to 3 of port 61H */
	uint8_t rose;	 /* OUT of channel 0 did, since this was last cleared */
	uint8_t spare[6];
};

void vpt_pit_init(struct vpt_pit *pit);
void vpt_pit_advance(struct vpt_pit *pit, uint64_t now);
uint64_t vpt_pit_next(const struct vpt_pit *pit);
bool vpt_pit_out(const struct vpt_pit *pit, unsigned int channel);

/* 40H to 43H, 61H; false: not ours. */
bool vpt_pit_read(struct vpt_pit *pit, uint16_t port, uint8_t *value);
bool vpt_pit_write(struct vpt_pit *pit, uint16_t port, uint8_t value);

#endif /* VMM_DEV_PIT_H */
