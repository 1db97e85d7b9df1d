# SPDX-License-Identifier: GPL-2.0-or-later
# libvpt: the freestanding library.
SHARED_SRC := $(sort $(wildcard shared/src/*.c))
SHARED_OBJ := $(SHARED_SRC:%.c=$(O)/%.o)
LIBVPT := $(O)/libvpt.a
ALL += $(LIBVPT)

$(LIBVPT): $(SHARED_OBJ)
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^
