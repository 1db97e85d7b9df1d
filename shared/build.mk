# SPDX-License-Identifier: GPL-2.0-or-later
# libvpt: the freestanding library.
SHARED_SRC := $(sort $(wildcard shared/src/*.c))
SHARED_OBJ := $(SHARED_SRC:%.c=$(O)/%.o)
LIBVPT := $(O)/libvpt.a
# The soname's number is VPT_ABI of vpt/version.h.
LIBVPT_SO := $(O)/libvpt.so.$(shell sed -n 's/^.define VPT_ABI //p' shared/include/vpt/version.h)
ALL += $(LIBVPT) $(LIBVPT_SO)

# One object, in which only the functions of the public headers are global: see exports.
$(LIBVPT): $(SHARED_OBJ) shared/exports
	$(call say,AR,$@)rm -f $@ && sed -n 's/^\t\t\(vpt_.*\);$$/\1/p' shared/exports >$@.names && \
		$(LD) -r -o $@.o $(filter %.o,$^) && $(OBJCOPY) --keep-global-symbols=$@.names $@.o && \
		$(AR) rcs $@ $@.o && rm $@.o $@.names

# Only the functions of the public headers are symbols of the shared library: see exports.
$(LIBVPT_SO): $(SHARED_SRC:%.c=$(O)/pic/%.o) shared/exports
	$(call say,LD,$@)$(CC) $(filter-out -pie,$(LDFLAGS)) -shared -Wl,-soname,$(notdir $@) \
		-Wl,--version-script=shared/exports -o $@ $(filter %.o,$^)
