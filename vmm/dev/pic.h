/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two 8259A interrupt controllers as a PC has them: 16 lines, the second at IR2. */
#ifndef VMM_DEV_PIC_H
#define VMM_DEV_PIC_H

#include <stdbool.h>
#include <stdint.h>

#define DEV_PIC_LINES 16

struct dev_pic_chip {
	uint8_t irr, isr, imr;
	uint8_t levels; /* of the inputs */
	uint8_t elcr;	/* level-triggered ones */
	uint8_t base;	/* vector of input 0 */
	uint8_t lowest; /* the input of the lowest priority */
	uint8_t step;	/* of initialisation: the ICW to come, 0: none */
	uint8_t icw1, icw4;
	uint8_t read_isr, poll, special_mask, rotate_aeoi;
};

struct dev_pic {
	struct dev_pic_chip chip[2];
};

void dev_pic_init(struct dev_pic *pic);
void dev_pic_set(struct dev_pic *pic, unsigned int line, bool level);
/* The output of the first one: an interrupt for the processor. */
bool dev_pic_intr(const struct dev_pic *pic);
/* Interrupt acknowledge cycles: the vector. */
uint8_t dev_pic_ack(struct dev_pic *pic);

/* 20H, 21H, A0H, A1H, 4D0H, 4D1H; false: not ours. */
bool dev_pic_read(struct dev_pic *pic, uint16_t port, uint8_t *value);
bool dev_pic_write(struct dev_pic *pic, uint16_t port, uint8_t value);

#endif /* VMM_DEV_PIC_H */
