# SPDX-License-Identifier: GPL-2.0-or-later
# The vpt command. Everything but main.c is in libvmm.a, so that tests link it.
#
# The VMM and the verbs that need it exist on x86-64 only; each other host has the verbs that read
# and write files.
VMM_DIRS := boot core dev disk engine gdb host linux net p9 pt soft virtio
VMM_VERBS := caps fuzz% gdb_listen lockstep% monitor% parts record% replay restore run run_% snapshot terminal verbs
VMM_ONLY := $(addsuffix /%.c,$(addprefix vmm/,$(VMM_DIRS))) $(addsuffix .c,$(addprefix vmm/cli/,$(VMM_VERBS))) vmm/x86/guard.c vmm/x86/mem.c vmm/x86/undo.c vmm/x86/walk.c
VMM_NOT := $(if $(HAS_VMM),vmm/cli/verbs_files.c,$(VMM_ONLY))

# libipt is a second decoder for `vpt verify --with=libipt` and for tests. LIBIPT=no builds vpt
# without it; Debian has it for x86 only. LIBIPT=DIR is a folder with intel-pt.h and libipt.a.
LIBIPT ?= $(if $(HAS_VMM),yes,no)
VMM_ALL := $(sort $(filter-out vmm/main.c $(VMM_NOT),$(wildcard vmm/*.c vmm/*/*.c vmm/soft/compile/*.c)))
VMM_NO_JUDGE := $(filter-out vmm/judge/%,$(VMM_ALL)) vmm/judge/none.c
VMM_NO_LIBS := -lZydis -ldw -lelf -lz -lzstd -ljansson $(if $(HAS_VMM),-lslirp)
ifeq ($(LIBIPT),no)
VMM_SRC := $(VMM_NO_JUDGE)
VMM_LIBS := $(VMM_NO_LIBS)
else
VMM_SRC := $(filter-out vmm/judge/none.c,$(VMM_ALL))
VMM_LIBS := $(VMM_NO_LIBS) $(if $(filter yes,$(LIBIPT)),-lipt,$(LIBIPT)/libipt.a)
CPPFLAGS += $(if $(filter yes,$(LIBIPT)),,-isystem $(LIBIPT))
endif
VMM_OBJ := $(VMM_SRC:%.c=$(O)/%.o)
LIBVMM := $(O)/libvmm.a
VPT := $(O)/vpt
ALL += $(VPT)

$(LIBVMM): $(VMM_OBJ)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(VPT): $(O)/vmm/main.o $(LIBVMM) $(LIBVPT)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(VMM_LIBS)

# The page of vpt report is part of the program.
$(O)/vmm/formats/report_page.o: $(wildcard vmm/report/*)

# What shells complete command lines of vpt by, made of its tables of options.
COMPLETION := $(O)/completion.bash $(O)/completion.zsh
ALL += $(COMPLETION)
$(COMPLETION): $(O)/completion.%: $(VPT)
	$(call say,GEN,$@)$(RUN) $(VPT) --completion=$* >$@.tmp && mv $@.tmp $@

# What a test runs to see that nothing else needs libipt.
$(O)/tests/vpt-without-libipt: $(O)/vmm/main.o $(VMM_NO_JUDGE:%.c=$(O)/%.o) $(LIBVPT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(VMM_NO_LIBS)

# The software CPU without host code: micro-operations that jump to the next, as after --oracle.
$(O)/vmm/soft/engine_micro_ops.o: vmm/soft/engine.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS) $(CFLAGS) $(VMM_CFLAGS) -DSOFT_MICRO_OPS -MMD -MP -c -o $@ $<
$(O)/tests/vpt-micro-ops: $(O)/vmm/main.o $(O)/vmm/soft/engine_micro_ops.o $(LIBVMM) $(LIBVPT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(VMM_LIBS)

# Without its folder the software CPU has no compiler (soft/compile.h).
VMM_CFLAGS += $(if $(wildcard vmm/soft/compile/*.c),,-DSOFT_NO_COMPILER)

# A register is read and written in all its widths, memory in whatever the guest likes.
$(O)/vmm/soft/%.o: VMM_CFLAGS += -fno-strict-aliasing

# Each micro-operation ends by calling the next: where the compiler makes a jump of
# that, no stack is used and no time is lost (soft/soft.h).
ifeq ($(MODE),rel)
$(O)/vmm/soft/%.o: VMM_CFLAGS += -DSOFT_THREADED -foptimize-sibling-calls -fno-stack-protector
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
	$(call say,AR,$@)rm -f $@ $@.o && $(LD) -r -o $@.o $^ && \
		$(OBJCOPY) --wildcard --keep-global-symbol='vptd_*' $@.o && $(AR) rcs $@ $@.o && rm $@.o

$(DECODE_SO): $(DECODE_OBJ) vmm/libdecode/exports
	$(call say,LD,$@)$(CC) $(filter-out -pie,$(LDFLAGS)) -shared -Wl,-soname,$(notdir $@) \
		-Wl,--version-script=vmm/libdecode/exports -o $@ $(DECODE_OBJ) -lZydis
