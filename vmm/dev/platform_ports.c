// SPDX-License-Identifier: GPL-2.0-or-later
/* Which port is whose. All devices are eight bits wide: the bus splits what is wider. */
#include "dev/platform_ports.h"

#define PORT_COM1     0x3f8
#define SERIAL_DATA   0
#define SERIAL_STATUS 5
#define PORT_KEYBOARD 0x64
#define PORT_92	      0x92
#define PORT_CF9      0xcf9

#define KEYBOARD_PULSE_RESET 0xfe
#define PORT_92_RESET	     0x01
#define PORT_92_A20	     0x02
#define CF9_SYSTEM	     0x02
#define CF9_RESET	     0x04

static void reset(struct dev_platform *p)
{
	if (p->host.reset)
		p->host.reset(p->host.opaque, DEV_RESET_SYSTEM);
}

/* A reset comes with the rise of its bit. A20 cannot be masked. */
static void write_port92(struct dev_platform *p, uint8_t value)
{
	bool rises = value & PORT_92_RESET && !(p->port92 & PORT_92_RESET);

	p->port92 = (value & 3) | PORT_92_A20;
	if (rises)
		reset(p);
}

static void write_cf9(struct dev_platform *p, uint8_t value)
{
	bool rises = value & CF9_RESET && !(p->cf9 & CF9_RESET);

	p->cf9 = value & (CF9_SYSTEM | CF9_RESET | 8);
	if (rises)
		reset(p);
}

static bool is_com1(uint16_t port)
{
	return (port & ~7u) == PORT_COM1;
}

static bool read_byte(struct dev_platform *p, uint16_t port, uint8_t *value)
{
	if (is_com1(port)) {
		unsigned int reg = port & 7;

		if (reg == SERIAL_DATA || reg == SERIAL_STATUS)
			dev_platform_fill(p);
		*value = dev_serial_read(&p->serial, reg);
	} else if (port == PORT_92) {
		*value = p->port92 | PORT_92_A20;
	} else {
		return dev_pic_read(&p->pic, port, value) || dev_pit_read(&p->pit, port, value) ||
		       dev_rtc_read(&p->rtc, port, value);
	}
	return true;
}

static bool write_byte(struct dev_platform *p, uint16_t port, uint8_t value)
{
	if (is_com1(port)) {
		if (dev_serial_write(&p->serial, port & 7, value) && p->host.serial_out)
			p->host.serial_out(p->host.opaque, value);
	} else if (port == PORT_92) {
		write_port92(p, value);
	} else if (port == PORT_KEYBOARD) {
		/* There is no keyboard: only its controller's reset line. */
		if (value == KEYBOARD_PULSE_RESET)
			reset(p);
	} else {
		return dev_pic_write(&p->pic, port, value) || dev_pit_write(&p->pit, port, value) ||
		       dev_rtc_write(&p->rtc, port, value);
	}
	return true;
}

/* Part of the PCI configuration address to anything but a byte access. */
static bool cf9(struct dev_platform *p, bool in, uint32_t *value)
{
	if (in)
		*value = p->cf9;
	else
		write_cf9(p, (uint8_t)*value);
	return true;
}

static bool one_byte(struct dev_platform *p, uint16_t port, bool in, uint8_t *byte)
{
	return in ? read_byte(p, port, byte) : write_byte(p, port, *byte);
}

bool dev_platform_io(struct dev_platform *p, uint16_t port, uint8_t size, bool in, uint32_t *value)
{
	bool found = false;
	unsigned int i;

	if (port == PORT_CF9 && size == 1)
		return cf9(p, in, value);
	for (i = 0; i < size && i < sizeof(*value); i++) {
		uint8_t byte = in ? 0xff : (uint8_t)(*value >> 8 * i);

		found |= one_byte(p, (uint16_t)(port + i), in, &byte);
		if (in)
			*value = (*value & ~(0xffu << 8 * i)) | (uint32_t)byte << 8 * i;
		dev_platform_settle(p);
	}
	return found;
}
