# SPDX-License-Identifier: GPL-2.0-or-later
# Bare-metal payloads: static ELF files, one per guest/payloads/*.c. Their flags do not depend on
# MODE, because they cannot contain a sanitizer's runtime.
GUEST_PAYLOADS := $(patsubst guest/payloads/%.c,%,$(sort $(wildcard guest/payloads/*.c)))
GUEST_ELF := $(GUEST_PAYLOADS:%=$(O)/guest/%.elf)
GUEST_SRC := $(sort $(wildcard guest/boot/*.[cS] guest/lib/*.[cS] guest/pt/*.[cS] guest/atom/*.[cS] \
	guest/random/*.[cS] \
	guest/tasks/*.[cS]))
GUEST_OBJ := $(patsubst %,$(O)/%.o,$(filter-out guest/boot/multiboot,$(basename $(GUEST_SRC))))
GUEST_SHARED_OBJ := $(patsubst %.c,$(O)/guest/%.o,$(filter shared/src/caps.c shared/src/packet_%.c \
	shared/src/atom_msr%.c shared/src/atom_packet%.c shared/src/atom_lip%.c,$(SHARED_SRC)))
GUEST_LIB := $(O)/guest/libguest.a
ALL += $(GUEST_ELF)

GUEST_CPPFLAGS := -Ishared/include -Iguest
# The debug information of the payloads.
GUEST_DEBUG ?= -g
GUEST_CFLAGS := -std=c11 -ffreestanding -O2 $(GUEST_DEBUG) $(WARN) -fno-common -ffunction-sections \
	-mno-red-zone -mgeneral-regs-only -fno-pic -no-pie -fcf-protection=none \
	-fno-stack-protector -fno-asynchronous-unwind-tables
# Documents show the demo's call tree, so calls stay calls and functions keep their names.
$(O)/guest/payloads/demo.o: GUEST_CFLAGS += -fno-optimize-sibling-calls -fno-ipa-cp -fno-ipa-sra
GUEST_LDFLAGS := -nostdlib -static -no-pie -Wl,--gc-sections,--build-id=none \
	-Wl,-z,noexecstack,-z,max-page-size=4096,--no-warn-rwx-segments

.PHONY: guests
guests: $(GUEST_ELF)

$(O)/guest/%.o: guest/%.c
	@mkdir -p $(@D)
	$(call say,GUESTCC,$@)gcc $(GUEST_CPPFLAGS) -DGUEST_PAYLOAD='"$(*F)"' $(GUEST_CFLAGS) -MMD -MP -c -o $@ $<
$(O)/guest/%.o: guest/%.S
	@mkdir -p $(@D)
	$(call say,GUESTAS,$@)gcc $(GUEST_CPPFLAGS) $(GUEST_DEBUG) -MMD -MP -c -o $@ $<
$(O)/guest/shared/%.o: shared/%.c
	@mkdir -p $(@D)
	$(call say,GUESTCC,$@)gcc $(GUEST_CPPFLAGS) $(GUEST_CFLAGS) -MMD -MP -c -o $@ $<

$(GUEST_LIB): $(filter-out $(O)/guest/boot/start.o,$(GUEST_OBJ)) $(GUEST_SHARED_OBJ)
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^

$(GUEST_ELF): $(O)/guest/%.elf: $(O)/guest/payloads/%.o $(O)/guest/boot/start.o $(GUEST_LIB) guest/boot/guest.lds
	$(call say,GUESTLD,$@)gcc $(GUEST_LDFLAGS) -T guest/boot/guest.lds -o $@ $(filter %.o %.a,$^)

# A program for Linux guests. It has no libraries, so any distribution runs it.
GUEST_LINUX := $(O)/guest/vpt-mark
ALL += $(GUEST_LINUX)
guests: $(GUEST_LINUX)

$(GUEST_LINUX): $(O)/guest/%: guest/linux/%.c shared/include/vpt/abi/boot.h
	@mkdir -p $(@D)
	$(call say,GUESTCC,$@)gcc $(GUEST_CPPFLAGS) -std=gnu11 -O2 $(WARN) -static -Wl,--build-id=none -o $@ $<

# Guests that attack their VMM, for tests/run. Each runs forever, unless --arg limits the work.
GUEST_HOSTILE := $(patsubst guest/hostile/%.c,$(O)/guest/hostile/%.elf,$(sort $(wildcard guest/hostile/*.c)))
ALL += $(GUEST_HOSTILE)
guests: $(GUEST_HOSTILE)

$(GUEST_HOSTILE): $(O)/guest/hostile/%.elf: $(O)/guest/hostile/%.o $(O)/guest/boot/start.o $(GUEST_LIB) guest/boot/guest.lds
	$(call say,GUESTLD,$@)gcc $(GUEST_LDFLAGS) -T guest/boot/guest.lds -o $@ $(filter %.o %.a,$^)

# Payloads for machines other than vpt's: Multiboot images, see boot/multiboot.S. The test bed runs
# them (tests/testbed).
GUEST_BARE := $(patsubst guest/bare/%.c,$(O)/guest/bare/%.elf,$(sort $(wildcard guest/bare/*.c)))
GUEST_VMX_SRC := $(sort $(wildcard guest/vmx/*.[cS]))
GUEST_VMX_OBJ := $(patsubst %,$(O)/%.o,$(basename $(GUEST_VMX_SRC)))
GUEST_VMX_SHARED := $(patsubst %.c,$(O)/guest/%.o,$(filter shared/src/vmx.c shared/src/vmx_list.c shared/src/usage.c shared/src/rtit.c,$(SHARED_SRC)))
ALL += $(GUEST_BARE)

# Loaders of Multiboot images require 32-bit ELF, also for 64-bit code.
$(GUEST_BARE): $(O)/guest/bare/%.elf: $(O)/guest/bare/%.o $(O)/guest/boot/multiboot.o $(GUEST_VMX_OBJ) $(GUEST_VMX_SHARED) $(GUEST_LIB) guest/boot/guest.lds
	$(call say,GUESTLD,$@)gcc $(GUEST_LDFLAGS) -T guest/boot/guest.lds -o $@.64 $(filter %.o,$^) $(filter %.a,$^) && \
		objcopy -O elf32-i386 $@.64 $@
