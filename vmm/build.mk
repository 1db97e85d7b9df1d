# SPDX-License-Identifier: GPL-2.0-or-later
# The vpt command. Everything but main.c is in libvmm.a, so that tests link it.
VMM_SRC := $(sort $(filter-out vmm/main.c,$(wildcard vmm/*.c vmm/*/*.c)))
VMM_OBJ := $(VMM_SRC:%.c=$(O)/%.o)
LIBVMM := $(O)/libvmm.a
VMM_LIBS := -lZydis -lipt -ldw -lelf -lz -lzstd
VPT := $(O)/vpt
ALL += $(VPT)

$(LIBVMM): $(VMM_OBJ)
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^

$(VPT): $(O)/vmm/main.o $(LIBVMM) $(LIBVPT)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(VMM_LIBS)

# A register is read and written in all its widths, memory in whatever the guest likes.
$(O)/vmm/soft/%.o: VMM_CFLAGS += -fno-strict-aliasing

# Each micro-operation ends by calling the next: where the compiler makes a jump of
# that, no stack is used and no time is lost (soft/soft.h).
ifeq ($(MODE),rel)
$(O)/vmm/soft/%.o: VMM_CFLAGS += -DVPT_SOFT_THREADED -foptimize-sibling-calls -fno-stack-protector
endif

# libvptdecode: the flow decoder for other programs, with what it needs of libvpt and of the
# x86 front end. Its own names are the only ones that a program sees.
DECODE_SRC := $(sort $(wildcard vmm/libdecode/*.c)) vmm/x86/insn.c \
	shared/src/packet_read.c shared/src/packet_sync.c shared/src/packet_ip.c \
	shared/src/atom_packet.c shared/src/atom_packet_format.c shared/src/atom_packet_read.c \
	shared/src/atom_lip.c shared/src/atom_msr.c
DECODE_OBJ := $(DECODE_SRC:%.c=$(O)/pic/%.o)
DECODE_A := $(O)/libvptdecode.a
DECODE_SO := $(O)/libvptdecode.so.0
ALL += $(DECODE_A) $(DECODE_SO)

$(O)/pic/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC $(VMM_CFLAGS) -MMD -MP -c -o $@ $<

$(DECODE_A): $(DECODE_OBJ)
	$(call say,AR,$@)rm -f $@ $@.o && ld -r -o $@.o $^ && \
		objcopy --wildcard --keep-global-symbol='vptd_*' $@.o && ar rcs $@ $@.o && rm $@.o

$(DECODE_SO): $(DECODE_OBJ) vmm/libdecode/exports
	$(call say,LD,$@)$(CC) $(filter-out -pie,$(LDFLAGS)) -shared -Wl,-soname,$(notdir $@) \
		-Wl,--version-script=vmm/libdecode/exports -o $@ $(DECODE_OBJ) -lZydis
