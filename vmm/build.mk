# SPDX-License-Identifier: GPL-2.0-or-later
# The vpt command. Everything but main.c is in libvmm.a, so that tests link it.
VMM_SRC := $(sort $(filter-out vmm/main.c,$(wildcard vmm/*.c vmm/*/*.c)))
VMM_OBJ := $(VMM_SRC:%.c=$(O)/%.o)
LIBVMM := $(O)/libvmm.a
VMM_LIBS := -lZydis -lipt -ldw -lelf
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
