/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two 8259A interrupt controllers of a PC: 16 lines, with the second controller at IR2. */
#ifndef VMM_DEV_PIC_H
#define VMM_DEV_PIC_H

#include <stdbool.h>
#include <stdint.h>

#define DEV_PIC_LINES 16

struct dev_pic_chip {
	uint8_t irr, isr, imr;
	uint8_t levels; /* the levels of the inputs */
	uint8_t elcr;	/* the level-triggered inputs */
	uint8_t base;	/* the vector of input 0 */
	uint8_t lowest; /* the input with the lowest priority */
	uint8_t step;	/* the next ICW of the initialisation, 0 if none */
	uint8_t icw1, icw4;
	uint8_t read_isr, poll, special_mask, rotate_aeoi;
};

struct dev_pic {
	struct dev_pic_chip chip[2];
};

void dev_pic_init(struct dev_pic *pic);
void dev_pic_set(struct dev_pic *pic, unsigned int line, bool level);
/* Return the output of the first controller, which interrupts the processor. */
bool dev_pic_intr(const struct dev_pic *pic);
/* Run the interrupt acknowledge cycles and return the vector. */
uint8_t dev_pic_ack(struct dev_pic *pic);

/* Access ports 20H, 21H, A0H, A1H, 4D0H or 4D1H. Returns false for other ports. */
bool dev_pic_read(struct dev_pic *pic, uint16_t port, uint8_t *value);
bool dev_pic_write(struct dev_pic *pic, uint16_t port, uint8_t value);

#endif /* VMM_DEV_PIC_H */
