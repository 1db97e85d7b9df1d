/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 8254 timer, and what port 61H makes of its third channel. A count takes effect when
 * it is written, in the periodic modes too, where the chip would end its period first.
 */
#ifndef VMM_DEV_PIT_H
#define VMM_DEV_PIT_H

#include <stdbool.h>
#include <stdint.h>

#define DEV_PIT_HZ	 1193182u
#define DEV_PIT_CHANNELS 3
#define DEV_PORT_SPEAKER 0x61u

struct dev_pit_channel {
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

struct dev_pit {
	uint64_t now;
	uint64_t due; /* when OUT of channel 0 rises next */
	struct dev_pit_channel channel[DEV_PIT_CHANNELS];
	uint8_t speaker; /* bits 0 to 3 of port 61H */
	uint8_t rose;	 /* OUT of channel 0 did, since this was last cleared */
	uint8_t spare[6];
};

void dev_pit_init(struct dev_pit *pit);
void dev_pit_advance(struct dev_pit *pit, uint64_t now);
uint64_t dev_pit_next(const struct dev_pit *pit);
bool dev_pit_out(const struct dev_pit *pit, unsigned int channel);

/* 40H to 43H, 61H; false: not ours. */
bool dev_pit_read(struct dev_pit *pit, uint16_t port, uint8_t *value);
bool dev_pit_write(struct dev_pit *pit, uint16_t port, uint8_t value);

#endif /* VMM_DEV_PIT_H */
