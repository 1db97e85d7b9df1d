/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One PCI bus (PCI Local Bus 3.0). Configuration is by ports CF8H and CFCH, and by memory (PCI
 * Express Base 5.0, 7.2.2). Device 0 is a host bridge. The others have one memory BAR and MSI-X, and
 * no INTx lines.
 */
#ifndef VMM_DEV_PCI_H
#define VMM_DEV_PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dev/lapic.h"

/* The window for BARs. RAM below 4 GiB and the other devices are outside. */
#define DEV_PCI_WINDOW	     0xe0000000u
#define DEV_PCI_WINDOW_BYTES 0x10000000u

/* The configuration space of bus 0 in memory (ECAM). */
#define DEV_PCI_ECAM	   0xf0000000u
#define DEV_PCI_ECAM_BYTES 0x00100000u

#define DEV_PCI_ADDRESS	  0xcf8
#define DEV_PCI_DATA	  0xcfc
#define DEV_PCI_FUNCTIONS 13u /* the host bridge and twelve devices */
#define DEV_PCI_VECTORS	  4u
#define DEV_PCI_CONFIG	  256u
#define DEV_PCI_MSIX	  0x40u /* the offset of the MSI-X capability */
#define DEV_PCI_NEXT	  0x50u /* the offset of the next capability */

struct dev_pci_vector {
	uint64_t address;
	uint32_t data, control;
};

struct dev_pci_function {
	uint8_t config[DEV_PCI_CONFIG];
	uint32_t bar_bytes; /* the size of BAR 0, a power of 2; 0 if there is no BAR */
	uint32_t msix_at;   /* the offset of the MSI-X table in BAR 0; the PBA is 4 KiB behind */
	uint32_t vectors;
	uint32_t pending; /* a bit for each vector */
	struct dev_pci_vector vector[DEV_PCI_VECTORS];
};

struct dev_pci_config {
	uint16_t vendor, device, subsystem;
	uint32_t class_code;
	uint32_t bar_bytes, msix_at, vectors;
};

struct dev_pci {
	uint32_t address; /* port CF8H */
	uint32_t count;	  /* functions, with the host bridge; 0 if there is no bus */
	struct dev_pci_function function[DEV_PCI_FUNCTIONS];
	/* Deliver the message of a vector. */
	void (*message)(void *opaque, const struct dev_apic_message *message);
	void *opaque;
};

/* Add the host bridge, without which there is no bus. No effect if there is one already. */
void dev_pci_add_bridge(struct dev_pci *pci);
/*
 * Add a device, and the host bridge if there is none. Returns the function, which the caller
 * can give further capabilities from DEV_PCI_NEXT on, or NULL if the bus is full.
 */
struct dev_pci_function *dev_pci_add(struct dev_pci *pci, const struct dev_pci_config *config);
/* Reset all functions. Each BAR has its initial address, and the functions do not respond. */
void dev_pci_reset(struct dev_pci *pci);

/* Return the number of bytes that dev_pci_save() writes, and save the state. */
size_t dev_pci_saved_bytes(const struct dev_pci *pci);
void dev_pci_save(const struct dev_pci *pci, void *to);
/*
 * Load a saved state. Returns false, without changes, if the bytes are not a state of a bus with
 * these functions.
 */
bool dev_pci_load(struct dev_pci *pci, const void *from, size_t bytes);

/* Access the configuration ports. Returns false if the ports or the size are not those of PCI. */
bool dev_pci_io(struct dev_pci *pci, uint16_t port, uint8_t size, bool in, uint32_t *value);
/* The same by memory. Returns false if the address is not in the configuration space. */
bool dev_pci_ecam(struct dev_pci *pci, uint64_t gpa, uint32_t len, bool write, void *data);
/* Returns the number of the function whose BAR has this address, or 0 if there is none. */
unsigned int dev_pci_at(const struct dev_pci *pci, uint64_t gpa, uint32_t *offset);
/* Access the MSI-X table and the PBA. Returns false if they are not at this offset of BAR 0. */
bool dev_pci_msix(struct dev_pci *pci, struct dev_pci_function *f, uint32_t offset, uint32_t len,
		  bool write, void *data);
/* Send the message of a vector, or set its pending bit while it is masked. */
void dev_pci_raise(struct dev_pci *pci, struct dev_pci_function *f, uint32_t vector);

#endif /* VMM_DEV_PCI_H */
