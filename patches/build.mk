# SPDX-License-Identifier: GPL-2.0-or-later
# The test bed: Bochs with our PT, KVM with our series, and what runs in them; QEMU with our
# PT, and Linux in it.
# Nothing here is part of `all`: it needs a network and more packages.
#?
#? Test bed (an emulated machine with VMX and PT; nothing of it needs KVM):
#?   make testbed       Bochs with our library as its PT hardware
#?   make kvm-modules   kvm.ko and kvm-intel.ko of Debian's kernel, with our series
#?   make check-testbed both, and every scenario of tests/testbed/scenarios
#?   make check-testbed-linux  Linux as a guest of our VMM in the test bed: KVM, KVM with the
#?                      processor's PT, and the change between KVM and the software CPU
#?   make bench-testbed what PT in Bochs costs; writes build/bench-testbed.json
TESTBED_PROGRAMS := $(sort bed $(patsubst tests/testbed/programs/%,%,$(basename \
	$(wildcard tests/testbed/programs/*.c)) \
	$(patsubst %/,%,$(dir $(wildcard tests/testbed/programs/*/*.c)))))
TESTBED_BIN := $(TESTBED_PROGRAMS:%=$(O)/testbed/%)
TESTBED_LIB := $(O)/testbed/libtestbed.a $(LIBVPT)

.PHONY: testbed kvm-modules testbed-programs check-testbed check-testbed-linux bench-testbed
testbed:
	@.ci/deps build testbed
	@JOBS=$(JOBS) patches/tools/testbed

kvm-modules:
	@.ci/deps build modules
	@JOBS=$(JOBS) patches/tools/kvm-modules

testbed-programs: $(TESTBED_BIN)

check-testbed:
	@.ci/deps build testbed modules
	@O=$(O) JOBS=$(JOBS) tests/testbed/check

check-testbed-linux:
	@.ci/deps build testbed modules
	@O=$(O) JOBS=$(JOBS) tests/testbed/check --long

# A module for the test bed's kernel.
$(O)/testbed/%.ko: tests/testbed/modules/%.c
	@patches/tools/module $< $@

bench-testbed:
	@.ci/deps build testbed modules
	$(again) $(O)/testbed/traced
	@O=$(O) tests/bench/testbed.sh

# One file, or all files of a folder, make a program. It takes nothing along into the
# guest: it is static.
.SECONDEXPANSION:
testbed-objects = $(patsubst %,$(O)/%.o,$(patsubst %.c,%,$(wildcard tests/testbed/programs/$1.c \
	tests/testbed/programs/$1/*.c tests/testbed/programs/$1/*.S)))
$(O)/testbed/bed: $(O)/tests/testbed/lib/bed.o $(TESTBED_LIB)
$(filter-out $(O)/testbed/bed,$(TESTBED_BIN)): $(O)/testbed/%: $$(call testbed-objects,%) $(TESTBED_LIB)
# This one shares its virtual machine with another.
$(O)/testbed/traces: $(patsubst %,$(O)/tests/testbed/programs/kvm-bugs/%.o,vm guest.S)
$(TESTBED_BIN):
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS_STATIC) -o $@ $^

$(O)/testbed/libtestbed.a: $(patsubst %.c,$(O)/%.o,$(filter-out %/bed.c,$(wildcard tests/testbed/lib/*.c)))
	@mkdir -p $(@D)
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^

$(O)/tests/testbed/%.o: CPPFLAGS += -Itests/testbed/lib
$(O)/tests/testbed/%.S.o: tests/testbed/%.S
	@mkdir -p $(@D)
	$(call say,AS,$@)$(CC) $(CPPFLAGS) -g -MMD -MP -c -o $@ $<

#?
#? QEMU (under TCG; nothing of it needs KVM):
#?   make qemu          QEMU with a PT that its guests can use: build/qemu links to it
#?   make demo-linux    Debian's kernel in it, perf record -e intel_pt// of a program
#?   make check-qemu    the scenarios of tests/qemu/scenarios
#?   make check-qemu-long  those that take longer: the kernel's own tests of Intel PT
#?   make check-boot    each instruction of a whole boot, by libvptdecode, libipt and perf (15 minutes)
#?   make bench-qemu    what PT costs a guest; writes build/bench-qemu.json
#?   make sync-patches  record the library's commit for the series, after shared/ has changed
QEMU_PROGRAMS := $(sort $(patsubst tests/qemu/programs/%,%,$(basename \
	$(wildcard tests/qemu/programs/*.c)) \
	$(patsubst %/,%,$(dir $(wildcard tests/qemu/programs/*/*.c)))))
QEMU_BIN := $(QEMU_PROGRAMS:%=$(O)/qemu/programs/%)

.PHONY: qemu demo-linux check-qemu check-qemu-long check-boot bench-qemu sync-patches qemu-programs
qemu:
	@.ci/deps build qemu
	@mkdir -p build
	@dir=$$(JOBS=$(JOBS) patches/tools/qemu) && ln -sfnT "$$dir" build/qemu && \
		echo "build/qemu/qemu-system-x86_64"

demo-linux:
	@.ci/deps build qemu guest
	@O=$(O) JOBS=$(JOBS) tests/qemu/demo

check-qemu:
	@.ci/deps build qemu guest
	@O=$(O) JOBS=$(JOBS) tests/qemu/check

check-qemu-long:
	@.ci/deps build qemu guest
	@O=$(O) JOBS=$(JOBS) tests/qemu/check --long

check-boot:
	@.ci/deps build check perf qemu guest
	$(again) all
	@MODE=$(MODE) O=$(O) JOBS=$(JOBS) tests/lib/run.sh -t 3600 -d $(O)/check-boot tests/qemu/boot-decoders

bench-qemu:
	@.ci/deps build qemu guest
	@O=$(O) JOBS=$(JOBS) tests/bench/qemu.sh

sync-patches:
	@patches/tools/qemu --sync

qemu-programs: $(QEMU_BIN)

qemu-objects = $(patsubst %,$(O)/%.o,$(patsubst %.c,%,$(wildcard tests/qemu/programs/$1.c \
	tests/qemu/programs/$1/*.c tests/qemu/programs/$1/*.S)))
$(QEMU_BIN): $(O)/qemu/programs/%: $$(call qemu-objects,%)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS_STATIC) -o $@ $^ -lpthread

$(O)/tests/qemu/%.S.o: tests/qemu/%.S
	@mkdir -p $(@D)
	$(call say,AS,$@)$(CC) $(CPPFLAGS) -g -MMD -MP -c -o $@ $<
