// SPDX-License-Identifier: GPL-2.0-or-later
/* The port bus. All devices are eight bits wide, so the bus splits wider accesses. */
#include "dev/platform_ports.h"

#define PORT_COM1     0x3f8
#define PORT_PIC0     0x20
#define PORT_PIC1     0xa0
#define PORT_ELCR     0x4d0
#define PORT_PIT      0x40
#define PORT_RTC      0x70
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

/* Reset at a rising edge of the reset bit. A20 cannot be masked. */
static bool write_port92(struct dev_platform *p, uint16_t port, uint8_t value)
{
	bool rises = value & PORT_92_RESET && !(p->port92 & PORT_92_RESET);

	(void)port;
	p->port92 = (value & 3) | PORT_92_A20;
	if (rises)
		reset(p);
	return true;
}

static bool write_cf9(struct dev_platform *p, uint16_t port, uint8_t value)
{
	bool rises = value & CF9_RESET && !(p->cf9 & CF9_RESET);

	(void)port;
	p->cf9 = value & (CF9_SYSTEM | CF9_RESET | 8);
	if (rises)
		reset(p);
	return true;
}

static bool read_com1(struct dev_platform *p, uint16_t port, uint8_t *value)
{
	*value = dev_serial_read(&p->serial, port & 7);
	return true;
}

static bool write_com1(struct dev_platform *p, uint16_t port, uint8_t value)
{
	if (dev_serial_write(&p->serial, port & 7, value) && p->host.serial_out)
		p->host.serial_out(p->host.opaque, value);
	return true;
}

static bool read_port92(struct dev_platform *p, uint16_t port, uint8_t *value)
{
	(void)port;
	*value = p->port92 | PORT_92_A20;
	return true;
}

/* Only the reset line of the keyboard's controller exists. */
static bool write_keyboard(struct dev_platform *p, uint16_t port, uint8_t value)
{
	(void)port;
	if (value == KEYBOARD_PULSE_RESET)
		reset(p);
	return true;
}

static bool read_cf9(struct dev_platform *p, uint16_t port, uint8_t *value)
{
	(void)port;
	*value = p->cf9;
	return true;
}

static bool read_pic(struct dev_platform *p, uint16_t port, uint8_t *value)
{
	return dev_pic_read(&p->pic, port, value);
}

static bool write_pic(struct dev_platform *p, uint16_t port, uint8_t value)
{
	return dev_pic_write(&p->pic, port, value);
}

static bool read_pit(struct dev_platform *p, uint16_t port, uint8_t *value)
{
	return dev_pit_read(&p->pit, port, value);
}

static bool write_pit(struct dev_platform *p, uint16_t port, uint8_t value)
{
	return dev_pit_write(&p->pit, port, value);
}

static bool read_rtc(struct dev_platform *p, uint16_t port, uint8_t *value)
{
	return dev_rtc_read(&p->rtc, port, value);
}

static bool write_rtc(struct dev_platform *p, uint16_t port, uint8_t value)
{
	return dev_rtc_write(&p->rtc, port, value);
}

static bool read_pm(struct dev_platform *p, uint16_t port, uint8_t *value)
{
	*value = dev_pm_read(&p->pm, port);
	return true;
}

static bool write_pm(struct dev_platform *p, uint16_t port, uint8_t value)
{
	if (dev_pm_write(&p->pm, port, value) && p->host.reset)
		p->host.reset(p->host.opaque, DEV_RESET_OFF);
	return true;
}

/* The accesses that a device decodes. */
enum width {
	EACH_BYTE,
	BYTE_ONLY, /* a wider access is not for the device */
};

/* The port bus. NULL if the device does not respond in this direction. */
static const struct port_row {
	uint16_t first, last;
	bool (*read)(struct dev_platform *p, uint16_t port, uint8_t *value);
	bool (*write)(struct dev_platform *p, uint16_t port, uint8_t value);
	enum width width;
} rows[] = {
	{PORT_COM1, PORT_COM1 + 7, read_com1, write_com1, EACH_BYTE},
	{PORT_PIC0, PORT_PIC0 + 1, read_pic, write_pic, EACH_BYTE},
	{PORT_PIC1, PORT_PIC1 + 1, read_pic, write_pic, EACH_BYTE},
	{PORT_ELCR, PORT_ELCR + 1, read_pic, write_pic, EACH_BYTE},
	{PORT_PIT, PORT_PIT + 3, read_pit, write_pit, EACH_BYTE},
	{DEV_PORT_SPEAKER, DEV_PORT_SPEAKER, read_pit, write_pit, EACH_BYTE},
	{PORT_RTC, PORT_RTC + 1, read_rtc, write_rtc, EACH_BYTE},
	{DEV_PM_EVENT, DEV_PM_LAST, read_pm, write_pm, EACH_BYTE},
	{PORT_KEYBOARD, PORT_KEYBOARD, NULL, write_keyboard, EACH_BYTE},
	{PORT_92, PORT_92, read_port92, write_port92, EACH_BYTE},
	/* Wider accesses belong to the PCI configuration address. */
	{PORT_CF9, PORT_CF9, read_cf9, write_cf9, BYTE_ONLY},
};

static const struct port_row *find(uint16_t port, uint8_t size)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (port >= rows[i].first && port <= rows[i].last)
			return rows[i].width == BYTE_ONLY && size != 1 ? NULL : &rows[i];
	return NULL;
}

static bool one_byte(struct dev_platform *p, const struct port_row *row, uint16_t port, bool in,
		     uint8_t *byte)
{
	if (!row)
		return false;
	if (in)
		return row->read && row->read(p, port, byte);
	return row->write && row->write(p, port, *byte);
}

bool dev_platform_io(struct dev_platform *p, uint16_t port, uint8_t size, bool in, uint32_t *value)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < size && i < sizeof(*value); i++) {
		uint8_t byte = in ? 0xff : (uint8_t)(*value >> 8 * i);
		uint16_t at = (uint16_t)(port + i);

		found |= one_byte(p, find(at, size), at, in, &byte);
		if (in)
			*value = (*value & ~(0xffu << 8 * i)) | (uint32_t)byte << 8 * i;
		dev_platform_update(p);
	}
	return found;
}
