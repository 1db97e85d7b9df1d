# SPDX-License-Identifier: GPL-2.0-or-later
# Unit tests: one program per tests/unit/test_*.c, each a libcheck suite. What
# they share is tests/lib/*.c.
#
# A host without the VMM has the tests that include no header of the VMM, and none of tests/lib that
# includes one.
ifeq ($(HAS_VMM),)
TEST_NOT_HEADERS := $(subst %,.*,$(subst $() $(),|,$(addsuffix /%,$(VMM_DIRS)) $(addprefix cli/,$(addsuffix .h,$(VMM_VERBS))) x86/guard.h x86/mem.h x86/walk.h))
TEST_NOT_HEADERS := $(TEST_NOT_HEADERS)$(shell grep -lE '^#include "($(TEST_NOT_HEADERS))"' tests/lib/*.h | \
	sed 's,^tests/,|,' | tr -d '\n')
TEST_NOT := $(shell grep -lE '^#include "($(TEST_NOT_HEADERS))"' tests/lib/*.c tests/unit/*.c tests/tools/*.c)
endif
TEST_LIB_SRC := $(filter-out tests/lib/main.c $(TEST_NOT),$(sort $(wildcard tests/lib/*.c)))
TEST_LIB := $(O)/tests/libtest.a
TEST_UNIT_SRC := $(filter-out $(TEST_NOT),$(sort $(wildcard tests/unit/test_*.c)))
TEST_UNIT := $(TEST_UNIT_SRC:tests/unit/%.c=$(O)/tests/%)
CHECK_LIBS := -lcheck -lsubunit -lm -lrt -lpthread

$(TEST_LIB): $(TEST_LIB_SRC:%.c=$(O)/%.o)
	@mkdir -p $(@D)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(TEST_UNIT): $(O)/tests/%: $(O)/tests/unit/%.o $(O)/tests/lib/main.o $(TEST_LIB) $(LIBVMM) $(LIBVPT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(TEST_LIB) $(LIBVMM) $(LIBVPT) \
		$(VMM_LIBS) $(CHECK_LIBS)
# tests/lib/mark.c
$(TEST_UNIT): private LDFLAGS += -Wl,--wrap=_mark_point

# Its allocations fail one by one.
$(O)/tests/test_vptdecode_memory: private LDFLAGS += \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

# For tools: files made by hand, and traces in one piece.
TEST_RAW := $(O)/tests/libraw.a
$(TEST_RAW): $(O)/tests/lib/rawfile.o $(O)/tests/lib/rawelf.o $(O)/tests/lib/onepiece.o $(O)/tests/lib/versions.o \
	$(O)/tests/lib/atom_follow.o $(O)/tests/lib/imagefile.o $(O)/tests/lib/logfile.o $(O)/tests/lib/samelog.o \
	$(O)/tests/lib/via_piece.o
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

# Small programs that test scripts use, one per tests/tools/*.c.
TEST_TOOLS := $(patsubst tests/tools/%.c,$(O)/tests/%,$(filter-out $(TEST_NOT),$(sort $(wildcard tests/tools/*.c))))
$(TEST_TOOLS): $(O)/tests/%: $(O)/tests/tools/%.o $(TEST_RAW) $(LIBVMM) $(LIBVPT)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS)
$(O)/tests/mkvpt $(O)/tests/memory: TOOL_LIBS := -lz
$(O)/tests/follow $(O)/tests/follow_atom $(O)/tests/edges $(O)/tests/times $(O)/tests/listing $(O)/tests/flows $(O)/tests/points $(O)/tests/shards $(O)/tests/partials $(O)/tests/side $(O)/tests/log_mutants $(O)/tests/samelog $(O)/tests/gaps $(O)/tests/windows $(O)/tests/merged $(O)/tests/reads: TOOL_LIBS := $(VMM_LIBS)

# One program per tests/fuzz/fuzz_*.c; only MODE=fuzz can link them.
TEST_FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
TEST_FUZZ := $(TEST_FUZZ_SRC:tests/fuzz/%.c=$(O)/tests/%)
$(TEST_FUZZ): $(O)/tests/%: $(O)/tests/fuzz/%.o $(TEST_LIB) $(LIBVMM) $(LIBVPT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(TEST_LIB) \
		$(LIBVMM) $(LIBVPT) $(VMM_LIBS)

# Programs of tests/perf, one per *.c.
PERF_TOOLS := $(patsubst tests/perf/%.c,$(O)/tests/perf-%,$(sort $(wildcard tests/perf/*.c)))
$(PERF_TOOLS): $(O)/tests/perf-%: $(O)/tests/perf/%.o $(TEST_LIB) $(LIBVMM) $(LIBVPT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(TEST_LIB) $(LIBVMM) $(LIBVPT) \
		$(VMM_LIBS)

# The code fuzzer once more, without one, as MODE has it.
HOSTILE := $(O)/tests/hostile
$(HOSTILE): $(O)/tests/run/hostile.o $(O)/tests/fuzz/fuzz_code.o $(TEST_LIB) $(LIBVMM) $(LIBVPT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(TEST_LIB) $(LIBVMM) $(LIBVPT) \
		$(VMM_LIBS) -lpthread

# Hostile guests whose engine changes.
HOSTILE_SWITCH := $(O)/tests/hostile-switch
$(HOSTILE_SWITCH): $(O)/tests/run/hostile_switch.o $(TEST_LIB) $(LIBVMM) $(LIBVPT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(TEST_LIB) $(LIBVMM) $(LIBVPT) \
		$(VMM_LIBS)

# Random configurations on random walks.
CONFIGS_TEST := $(O)/tests/configs
$(CONFIGS_TEST): $(O)/tests/run/configs.o $(TEST_LIB) $(LIBVMM) $(LIBVPT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(TEST_LIB) $(LIBVMM) $(LIBVPT) \
		$(VMM_LIBS)

# The sanitizers look at vpt, not at the models: one model of each trace system is enough for
# them.
GUEST_MODELS := $(if $(filter asan ubsan san cov,$(MODE)),skl silvermont,bdw skl icx spr silvermont airmont)
RANDOM_PART_SIZE := 25
RANDOM_PARTS := $(shell seq 1 $(RANDOM_PART_SIZE) $(RANDOM_SEEDS))

# What each kind of check runs; see tests/lib/run.sh. The long ones come first.
CHECKS_GUEST := $(foreach owner,guest host,$(foreach model,$(GUEST_MODELS),\
	'tests/run/matrix.sh $(owner) $(model)'))
CHECKS_RANDOM := tests/run/fixed.sh tests/run/resume.sh $(foreach part,$(RANDOM_PARTS),'tests/run/random.sh $(part) $(RANDOM_PART_SIZE)' \
	'tests/run/engine.sh $(part) $(RANDOM_PART_SIZE)' 'tests/run/rtit.sh $(part) $(RANDOM_PART_SIZE)')
# `make check` runs a tenth of what check-configs does.
CONFIGS ?= 1000
CONFIGS_PART := 100
CHECKS_CONFIGS_SLICE := '$(CONFIGS_TEST) 1 $(CONFIGS_PART)' '$(CONFIGS_TEST) -a 1 $(CONFIGS_PART)'
CHECKS_CONFIGS := $(foreach part,$(shell seq 1 $(CONFIGS_PART) $(CONFIGS)),\
	'$(CONFIGS_TEST) $(part) $(CONFIGS_PART)' '$(CONFIGS_TEST) -a $(part) $(CONFIGS_PART)')
# Points at which runs are stopped and gone on with.
SNAPSHOT_POINTS := 10
CHECKS_SNAPSHOT := tests/run/determinism.sh tests/run/due.sh tests/run/cuts.sh tests/run/counter.sh 'tests/run/snapshot.sh $(SNAPSHOT_POINTS)'
CHECKS_USAGE := 'tests/run/usages.sh kvm system' $(foreach usage,system guest host owned,\
	'tests/run/usages.sh soft $(usage)') 'tests/run/usages.sh soft owned --trap=cr3' \
	'tests/run/usages.sh soft guest --trap=cr3 --conceal=all --model=icx' \
	'tests/run/usages.sh soft guest --controls=none --model=spr' tests/run/usage_options.sh
CHECKS_SOFT := 'tests/run/host_code.sh guest' 'tests/run/host_code.sh host' tests/run/no_compiler.sh
# The result depends on this machine's processor: not part of `make check`.
CHECKS_SILICON := 'tests/run/silicon/silicon.sh 200000'
CHECKS_LOCKSTEP := $(foreach part,0 1 2 3,'tests/run/lockstep.sh $(part) 4')
# Unit tests that need a KVM.
UNIT_KVM := test_kvm test_kvm_apic test_switch test_switch_guest test_switch_events test_switch_entry \
	test_switch_cpus test_kvm_guard
# What needs a KVM, and says so where there is none: a part of what the software CPU runs.
CHECKS_KVM := 'tests/run/matrix.sh guest skl kvm' 'tests/run/matrix.sh host spr kvm' \
	'tests/run/matrix.sh guest airmont kvm' 'tests/run/matrix.sh host airmont kvm' \
	'tests/run/random.sh 1 $(RANDOM_PART_SIZE) kvm' 'tests/run/engine.sh 1 4 kvm' \
	$(patsubst %,'tests/run/kvm.sh %',$(UNIT_KVM)) 'tests/cli/late.sh kvm' 'tests/cli/part.sh kvm' \
	'tests/run/matrix.sh guest skl kvm,soft' tests/run/threads.sh tests/run/snapshot_kvm.sh \
	tests/run/devices.sh \
	tests/run/hostile_switch.sh
# A slice of `make soak`, and hostile guests for so many seconds.
SOAK_INSNS ?= 1000000000
SOAK_SEEDS ?= 10000
SEEDS ?= 50000
FIRST ?=
SOAK_SLICE := $(if $(filter asan ubsan san cov,$(MODE)),5000000,100000000)
CHECKS_SOAK := 'tests/run/soak.sh -t $(SOAK_SLICE)' '$(HOSTILE) 10'
CHECKS_PERF := tests/perf/packets.sh tests/perf/verify.sh tests/perf/nr.sh tests/perf/events.sh tests/perf/time.sh $(patsubst %,'tests/perf/instructions.sh %',\
	$(shell sed -n 's/^\([a-z][a-z0-9-]*\).*/\1/p' tests/perf/configs))
CHECKS_FORMATS := $(sort $(wildcard tests/formats/*.sh))
CHECKS_UNIT := $(filter-out $(UNIT_KVM:%=$(O)/tests/%),$(TEST_UNIT))
CHECKS_LIBDECODE := tests/cli/libdecode/same.sh tests/cli/libdecode/items.sh tests/cli/libdecode/edges.sh tests/cli/libdecode/times.sh \
	tests/cli/libdecode/public.sh tests/cli/libdecode/same_rtit.sh tests/cli/libdecode/lost.sh tests/cli/libdecode/judge.sh
CHECKS_CLI := $(sort $(wildcard tests/cli/*.sh))
CHECKS_FORGED := 'tests/fuzz/forged/forged.sh -t 250'
CHECKS_COMPAT := tests/cli/compat/compat.sh
CHECKS_SPEC := tests/unit/tables/tables.sh tests/unit/tables/atom/rtit.sh
# check-spec looks at what the unit tests recorded in the same run.
after_units = -l '.ci/check-spec $(O)/check'
CHECKS_DOCS := tests/docs/examples.sh tests/docs/names.sh tests/docs/index.sh tests/docs/faults.sh
# What make check-rtit runs beside its list.
CHECKS_RTIT := $(foreach part,$(RANDOM_PARTS),'tests/run/rtit.sh $(part) $(RANDOM_PART_SIZE)') \
	'$(CONFIGS_TEST) -a 1 $(CONFIGS_PART)' tests/unit/tables/atom/rtit.sh $(filter $(O)/tests/test_atom%,$(TEST_UNIT)) tests/run/rtit/same.sh \
	$(patsubst %,'tests/run/rtit/roundtrip.sh %',$(shell sed -n 's/^\([a-z][a-z-]*\)[[:blank:]].*/\1/p' \
	tests/run/rtit/configs))
# Three cases of each verb, few failures of each kind; not with sanitizers, whose allocator is
# their own.
CHECKS_FAULTS := $(if $(filter rel dbg,$(MODE)),'tests/fuzz/faults/faults.sh -s 1')
CHECKS_HOUSE := $(addprefix .ci/check-,cycles format hardened headers layers names objects prose series state tail tree) tests/house/checks.sh \
	tests/house/runner.sh tests/house/bench.sh tests/house/fresh.sh tests/house/build_progress.sh \
	tests/house/machine.sh
CHECKS_INSTALL := tests/house/install.sh tests/house/abi.sh

run = MODE=$(MODE) O=$(O) PREFIX=$(PREFIX) tests/lib/run.sh -j2 -d $(O)/check
prepare = @.ci/deps build check
tested := all unit-build tools-build $(HOSTILE) $(HOSTILE_SWITCH) $(CONFIGS_TEST) forged-build faults-build \
	$(O)/tests/vpt-bench-decode $(O)/tests/vpt-without-libipt

#?
#? Testing (each prints "N passed, N failed" last):
#?   make check         all of the below but fuzz, two at a time, in MODE
#?   make unit          unit tests
#?   make check-guest   every payload on the software CPU, traced as guest and as host, decoded
#?                      and compared with what it saw; all models (sanitizers: one)
#?   make check-random  the same with RANDOM_SEEDS=200 random programs, as many with random
#?                      options of vpt run, and as many with those of RTIT
#?   make check-configs CONFIGS=1000 random configurations of PT: model, CTL, ranges, output,
#?                      overflows; on random walks, decoded and compared; and as many of RTIT
#?   make seeds         SEEDS=50000 fresh seeds of each kind (programs, options, configurations,
#?                      RTIT programs, RTIT configurations) on JOBS cores, from FIRST=, which
#?                      follows from the commit's hash; resumes a run that was interrupted
#?   make check-snapshot  a run that is stopped and goes on makes the same trace, and so do two
#?                      runs; SNAPSHOT_POINTS=10
#?   make check-usage   every payload with each usage of PT under a VMM (docs/usages.md), and
#?                      the same VM exits on both engines
#?   make check-soft    every payload and 40 random programs as host code and as single
#?                      micro-operations: the same trace, console and exit status; and vpt without
#?                      the folder of the compiler
#?   make check-silicon  200000 random instructions on the software CPU and on this processor
#?   make silicon       the same with SILICON_COUNT=10000000, and a table: docs/silicon.md
#?   make check-lockstep  every payload on both engines, compared after each instruction
#?   make check-kvm     payloads and random programs on KVM, and how KVM is used; skips where
#?                      there is none
#?   make check-perf    perf reads exports of every payload, every packet and every event as we
#?                      do; ends with a table by configuration
#?   make check-formats  the tools of callgrind, BOLT, AutoFDO, Perfetto and speedscope read exports (needs
#?                      the network once, and builds Perfetto's trace_processor)
#?   make check-cli     bad input: one line on stderr, the documented exit status
#?   make check-docs    run every example of README, docs, manual pages and --help, but those
#?                      that need QEMU or libvirt; see tests/docs/examples.sh
#?   make check-shards  each output of more than 200 traces by one thread, two threads, 7 and 64 shards (needs
#?                      the network once); resumes
#?   make check-slurm   vpt shard sbatch on a Slurm cluster of this host, of which a node dies (needs
#?                      the network once)
#?   make check-afl     afl-fuzz finds the planted bugs of a guest by vpt fuzz-server (needs the
#?                      network once)
#?   make check-gdb     gdb backwards: 12,500 positions of payloads and 400 of Linux in random order, 1,000
#?                      reverse steps, 4 vCPUs, recordings, and a script of the stock gdb with the
#?                      kernel's names (needs the network once); resumes
#?   make check-compat  files that earlier versions wrote: decoded and verified, or refused
#?   make check-spec    runs the unit tests; every fact of shared/spec is implemented, and a
#?                      test that passed has proved it: how many, and how many not
#?   make check-tables  rows of the manual's tables, and the packets that they make
#?   make check-rtit    the same for Atom's RTIT: tables, examples, registers, fields, errata and
#?                      every rule, each with its tests and how they went
#?   make check-ptt     the streams of libipt's source package, compiled by its pttc (needs the
#?                      network once): libvptdecode lists the flow that each expects, or
#?                      tests/cli/libdecode/ptt/differences says why not
#?   make check-aarch64  everything but the VMM for aarch64: cross-built, unit tests and scripts under
#?                      qemu-user, and the same output as on x86-64 (needs the network once)
#?   make check-report  pages of vpt report in a browser (needs the network once)
#?   make check-linux   Debian's kernels on the software CPU (needs the network once): the cloud kernel
#?                      boots on each model, its trace repeats, perf records inside
#?   make check-debian  Debian 12 and 13 boot from images with 1, 2 and 8 vCPUs (needs root and the network once),
#?                      also with a kernel of another configuration, which is built; resumes
#?   make check-linux-same  Linux with 1 and 4 vCPUs writes the same files on each path of the CPU, in replays
#?                      and across 91 snapshots (needs root for Debian's image, and the network once); resumes
#?   make check-linux-full  the guest's scenarios of tests/qemu under vpt run, on each model; resumes
#?   make check-house   format, cycles, hardening, headers, layers, objects, prose, tail jumps, tree; and that these
#?                      find faults
#?   make check-install install, compile against what was installed, uninstall
#?   make check-deb     build the Debian packages; lintian, and use in an overlay of this system
#?   make check-fresh   demo and check in a fresh Debian 12 (root, the network)
#?   make check-soak    a tenth of make soak, and hostile guests for 10 s
#?   make soak          SOAK_INSNS=1000000000 instructions run, traced, decoded and compared,
#?                      interrupts and faults included; ends with a table by payload; then
#?                      SOAK_SEEDS=10000 seeds of each kind, from a first one that is random
#?   make soak-hostile  memory and disk of guests made to fill both, for SECONDS=600 each, on the
#?                      software CPU and on KVM, held against their limits; resumes
#?   make check-faults  the k-th allocation, mmap, write, ftruncate or fsync fails, k = 1 to
#?                      FAULTS_MAX=200, for every verb: status, output, files; resumes
#?   make check-forged  COUNT=100000 forged .vpt files, snapshots, ELF files and symbol maps of
#?                      each kind (KIND=) through every verb, with sanitizers; resumes
#?   make fuzz          every fuzzer for FUZZ_SECONDS=600
#?   make spec-map      write docs/spec-map.md anew
#?   make cov           line coverage of the unit tests, by file
#?   make bench         measure; writes build/bench.json
#?   make bench-decode  libvptdecode beside libipt, on a boot of Linux that our QEMU records (built
#?                      once) and on payloads; writes build/bench-decode.json; and vpt decode
#?                      --jobs=2 beside one thread, and vpt pack
#?   make bench-large   a trace of GB=10 GB in shards: time and memory of each step
#?   make bench-different  traces of different code, GB=1 GB in all: payloads, boots of three kernels, a
#?                      compiler in a Debian; time and memory of decoding each; resumes
#?   make bench-exports TRACE=FILE  time and memory of each export of a trace of vpt run, repeated 2 and
#?                      20 times; writes build/bench-exports.json
#?   make bench-linux   Linux under vpt run beside Debian's QEMU: processor seconds of six works, with
#?                      1, 2 and 8 vCPUs; can be interrupted; writes build/bench-linux.json
#?   make bench-against BASE=COMMIT  processor time of each row beside that of a commit; fails if
#?                      one is slower; can be interrupted; writes build/bench-against.json
SILICON_COUNT ?= 10000000
.PHONY: check-configs check-usage silicon-build check-soft check-silicon silicon
.PHONY: unit-build tools-build check unit check-guest check-random check-snapshot check-lockstep check-kvm check-cli check-compat check-docs \
	check-spec check-tables check-rtit check-ptt check-slurm check-afl check-gdb check-aarch64 unit-list check-report check-linux check-debian check-linux-same check-linux-full \
	check-house check-install check-fresh check-soak check-perf check-formats soak seeds fuzz spec-map cov bench bench-decode bench-large bench-different bench-exports check-shards bench-linux bench-against
unit-build: $(TEST_UNIT)
tools-build: $(TEST_TOOLS)

check:
	$(prepare)
	$(again) $(tested)
	@$(run) $(after_units) $(CHECKS_KVM) $(CHECKS_USAGE) $(CHECKS_LOCKSTEP) $(CHECKS_FAULTS) $(CHECKS_SOAK) $(CHECKS_GUEST) $(CHECKS_RANDOM) $(CHECKS_CONFIGS_SLICE) $(CHECKS_SNAPSHOT) $(CHECKS_SOFT) $(CHECKS_LIBDECODE) \
		$(CHECKS_HOUSE) $(CHECKS_CLI) $(CHECKS_COMPAT) $(CHECKS_FORGED) $(CHECKS_DOCS) $(CHECKS_UNIT) \
		$(CHECKS_SPEC) $(CHECKS_INSTALL)
unit:
	$(prepare)
	$(again) unit-build
	@$(run) $(CHECKS_UNIT)
check-guest:
	$(prepare)
	$(again) $(tested)
	@$(run) $(CHECKS_GUEST)
check-random:
	$(prepare)
	$(again) $(tested)
	@$(run) $(CHECKS_RANDOM)
check-configs:
	$(prepare)
	$(again) $(CONFIGS_TEST)
	@$(run) $(CHECKS_CONFIGS)
check-snapshot:
	$(prepare)
	$(again) $(tested)
	@$(run) $(CHECKS_SNAPSHOT)
check-usage:
	$(prepare)
	$(again) $(tested)
	@$(run) $(CHECKS_USAGE)
check-soft:
	$(prepare)
	$(again) $(tested)
	@$(run) $(CHECKS_SOFT)
check-silicon:
	$(prepare)
	$(again) silicon-build
	@$(run) $(CHECKS_SILICON)
silicon:
	$(prepare)
	$(again) silicon-build
	$(SILICON) --count $(SILICON_COUNT)
check-lockstep:
	$(prepare)
	$(again) $(tested)
	@$(run) $(CHECKS_LOCKSTEP)
check-kvm:
	$(prepare)
	$(again) $(tested)
	@$(run) $(CHECKS_KVM)
check-cli:
	$(prepare)
	$(again) $(tested)
	@$(run) $(CHECKS_CLI)
check-compat:
	$(prepare)
	$(again) $(tested)
	@$(run) $(CHECKS_COMPAT)
check-spec:
	$(prepare)
	$(again) $(tested)
	@$(run) $(after_units) $(CHECKS_SPEC) $(CHECKS_UNIT); status=$$?; \
		sed -n 's/^# \([0-9]* facts\)/\1/p' $(O)/check/check-spec*.tap; exit $$status
check-tables:
	$(prepare)
	$(again) $(tested)
	@O=$(O) tests/unit/tables/tables.sh --list
check-rtit:
	$(prepare)
	$(again) $(tested)
	@O=$(O) tests/unit/tables/atom/rtit.sh --list; listed=$$?; \
		MODE=$(MODE) O=$(O) tests/lib/tabled.sh $(O)/check-rtit $(CHECKS_RTIT) && exit $$listed
check-ptt:
	@.ci/deps build ptt
	$(again) $(O)/tests/listing
	@tests/cli/libdecode/ptt/streams >/dev/null
	@MODE=$(MODE) O=$(O) tests/lib/run.sh -j2 -t 600 -d $(O)/check-ptt tests/cli/libdecode/ptt/check
# What has passed stays in the ledger.
check-shards:
	@.ci/deps build check qemu guest
	$(again) all
	@mkdir -p $(O)/check-shards
	@MODE=$(MODE) O=$(O) tests/lib/run.sh -t 10800 -d $(O)/check-shards "tests/cli/shards/all build/shards.ledger"
check-slurm:
	@.ci/deps build slurm
	$(again) all
	@MODE=$(MODE) O=$(O) tests/lib/run.sh -t 600 -d $(O)/check-slurm tests/cli/slurm/check
check-afl:
	@.ci/deps build check linux afl
	$(again) all
	@MODE=$(MODE) O=$(O) tests/lib/run.sh -t 10800 -d $(O)/check-afl tests/cli/afl/check 'tests/cli/afl/check process'
# What has passed stays in the ledger.
GDB_PAYLOADS := calls jit selfmod interrupts strings exceptions timer kernelmix processes storm
check-gdb:
	@.ci/deps build check guest linux
	$(again) all
	@patches/tools/guest >/dev/null
	@MODE=$(MODE) O=$(O) tests/lib/run.sh -t 3600 -d $(O)/check-gdb 'tests/gdb/linux.sh steps' \
		'tests/gdb/linux.sh session' $(foreach n,1 2 3,'tests/gdb/linux.sh random $(n)/3') \
		$(foreach n,1 2 3 4,'tests/gdb/linux.sh memory $(n)/4') 'tests/gdb/linux.sh cpus' \
		'tests/gdb/linux.sh recorded' $(GDB_PAYLOADS:%='tests/gdb/payload.sh % 1000') \
		'tests/gdb/payload.sh smp 1000 4' 'tests/gdb/payload.sh echo 500 1 recorded' \
		'tests/gdb/payload.sh kernelmix 500 1 file' 'tests/gdb/payload.sh smp 500 2 file'
AARCH64 := build/aarch64
check-aarch64:
	@.ci/deps build check python aarch64
	$(again) all
	@tests/aarch64/check $(AARCH64)
# The suites of this host, for tests/aarch64/check.
unit-list:
	@echo $(CHECKS_UNIT)
check-report:
	@.ci/deps build check linux report
	$(again) all
	@patches/tools/demo >/dev/null
	@MODE=$(MODE) O=$(O) tests/lib/run.sh -t 900 -d $(O)/check-report tests/report/run.sh
	@cat $(O)/report/figures
check-linux:
	@.ci/deps build check linux bench
	$(again) all
	@patches/tools/demo >/dev/null
	@patches/tools/kernel generic >/dev/null
	@MODE=$(MODE) O=$(O) tests/lib/run.sh -t 1500 -d $(O)/check-linux tests/run/linux/boot.sh tests/run/linux/complaints.sh tests/run/linux/demo.sh \
		tests/run/linux/share.sh tests/run/linux/net.sh tests/run/linux/disk.sh tests/run/linux/vmlinux.sh \
		tests/run/linux/faults.sh tests/run/linux/scenarios.sh tests/run/linux/tasks.sh \
		tests/run/linux/ring.sh tests/run/linux/fuzz.sh
# The arguments of debian.sh for each row.
DEBIAN_HOW := 1-traced 2-reboot 8
DEBIAN_ROWS := $(DEBIAN_HOW:%=bookworm-%) $(DEBIAN_HOW:%=trixie-%) bookworm-1-own-traced bookworm-2-own-reboot bookworm-8-own
check-debian:
	@.ci/deps build check linux debian kernel
	$(again) all
	@for codename in bookworm trixie; do patches/tools/debian $$codename >/dev/null || exit 1; done
	@patches/tools/own-kernel >/dev/null
	@patches/tools/guest >/dev/null
	@MODE=$(MODE) O=$(O) tests/lib/run.sh -t 3600 -d $(O)/check-debian tests/run/linux/own-kernel.sh \
		$(foreach row,$(DEBIAN_ROWS),'tests/run/linux/debian.sh $(subst -, ,$(row))')
check-linux-same:
	@.ci/deps build check linux debian
	$(again) all $(O)/tests/vpt-micro-ops
	$(again) MODE=asan O=build/asan build/asan/vpt
	@patches/tools/kernel generic >/dev/null
	@patches/tools/debian bookworm >/dev/null
	@MODE=$(MODE) O=$(O) ASAN=build/asan tests/lib/run.sh -t 20000 -d $(O)/check-linux-same \
		$(foreach group,snapshots debian paths inputs signals,'tests/run/linux/same.sh $(group)')
check-linux-full:
	@.ci/deps build check linux
	$(again) all
	@MODE=$(MODE) O=$(O) tests/run/linux/scenarios.sh --full
check-house:
	$(prepare)
	@$(run) $(CHECKS_HOUSE)
check-install:
	$(prepare)
	$(again) all
	@$(run) $(CHECKS_INSTALL)
check-fresh:
	@.ci/deps fresh
	@.ci/check-fresh
check-perf:
	@.ci/deps build check perf
	$(again) all $(PERF_TOOLS)
	@MODE=$(MODE) O=$(O) tests/lib/tabled.sh $(O)/check-perf $(CHECKS_PERF)
check-formats:
	@.ci/deps build check python formats guest linux
	$(again) all
	@patches/tools/guest >/dev/null
	@tests/formats/trace_processor/tool >/dev/null
	@MODE=$(MODE) O=$(O) tests/lib/run.sh -t 600 -d $(O)/check-formats $(CHECKS_FORMATS)
check-soak:
	$(prepare)
	$(again) $(tested)
	@$(run) $(CHECKS_SOAK)
soak:
	$(prepare)
	$(again) all $(CONFIGS_TEST)
	@MODE=$(MODE) O=$(O) tests/run/soak.sh -l -j $(JOBS) $(SOAK_INSNS); soaked=$$?; \
		MODE=$(MODE) O=$(O) tests/run/seeds.sh -j $(JOBS) -n $(SOAK_SEEDS) \
		-f $$(od -An -N3 -tu4 /dev/urandom | tr -d " ") -d $(O)/soak-seeds && \
		MODE=$(MODE) O=$(O) tests/run/cuts.sh 10000 && exit $$soaked
seeds:
	$(prepare)
	$(again) all $(CONFIGS_TEST)
	@MODE=$(MODE) O=$(O) tests/run/seeds.sh -j $(JOBS) -n $(SEEDS) $(if $(FIRST),-f $(FIRST)) \
		-d build/seeds
fuzz:
	@.ci/deps build fuzz
	$(again) MODE=fuzz O=build/fuzz fuzz-build
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tests/lib/run.sh -j2 -t $$(($(FUZZ_SECONDS) + 60)) \
		-d build/fuzz/check $(TEST_FUZZ_SRC:tests/fuzz/fuzz_%.c='tests/lib/fuzz.sh %')
spec-map:
	$(prepare)
	$(again) unit-build
	@O=$(O) .ci/proofs >$(O)/proofs
	.ci/spec-map $(O)/proofs >docs/spec-map.md
cov:
	$(prepare)
	$(again) MODE=cov O=build/cov unit
	@.ci/cov

#?   make mutants       break shared/src in COUNT=300 ways that SEED chooses (the commit's hash),
#?                      and see how many the unit tests notice; resumes after an interruption
#?   make mutants TAGS=1  break each fact of shared/spec; the tests that claim it must notice
COUNT ?= 300
SEED ?=
mutants: export CC := $(CC)
mutants: export SHARED_CFLAGS := $(SHARED_CFLAGS)
mutants: export VMM_CFLAGS := $(VMM_CFLAGS)
mutants: export LIBS = $(VMM_LIBS) $(CHECK_LIBS)
.PHONY: mutants
mutants:
	@.ci/deps build check python
	$(again) unit-build
ifeq ($(TAGS),1)
	@O=$(O) .ci/proofs >$(O)/proofs
	@python3 -B tests/house/mutants/tags.py $(O)/proofs $(O)
else
	@python3 -B tests/house/mutants/mutants.py --count $(COUNT) --seed '$(SEED)' $(O)
endif

.PHONY: fuzz-build
fuzz-build: $(TEST_FUZZ)

# Oracle logs of the test bed to .vpt files.
TESTBED_IMPORT := $(O)/tests/testbed-import
TESTBED_NEEDS += $(TESTBED_IMPORT)
$(TESTBED_IMPORT): $(O)/tests/testbed/import.o $(LIBVMM) $(LIBVPT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBVMM) $(LIBVPT) $(VMM_LIBS)

# The software CPU against this machine's: see tests/run/silicon/silicon.c.
SILICON := $(O)/tests/vpt-silicon
SILICON_SRC := $(sort $(wildcard tests/run/silicon/*.c))
silicon-build: $(SILICON)
$(SILICON): $(SILICON_SRC:%.c=$(O)/%.o) $(LIBVMM) $(LIBVPT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBVMM) $(LIBVPT) $(VMM_LIBS)

# Measuring: see tests/bench/bench.c.
BENCH := $(O)/tests/vpt-bench
BENCH_SRC := $(filter-out %/rows.c,$(sort $(wildcard tests/bench/*.c)))
$(BENCH): $(BENCH_SRC:%.c=$(O)/%.o) $(LIBVMM) $(LIBVPT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBVMM) $(LIBVPT) $(VMM_LIBS)
bench:
	@.ci/deps build bench
	$(again) all $(BENCH)
	@MODE=$(MODE) O=$(O) tests/bench/run.sh
# libvptdecode beside libipt: see tests/bench/decode/main.c. The library comes first, so that the
# interface is measured that other programs link.
BENCH_DECODE := $(O)/tests/vpt-bench-decode
BENCH_DECODE_SRC := $(sort $(wildcard tests/bench/decode/*.c))
$(BENCH_DECODE): $(BENCH_DECODE_SRC:%.c=$(O)/%.o) $(DECODE_A) $(LIBVMM) $(LIBVPT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(DECODE_A) $(LIBVMM) $(LIBVPT) \
		$(VMM_LIBS)
bench-decode:
	@.ci/deps build qemu guest
	$(again) all $(BENCH_DECODE)
	@MODE=$(MODE) O=$(O) JOBS=$(JOBS) tests/bench/decode.sh
	@MODE=$(MODE) O=$(O) tests/bench/jobs.sh "$$(tests/bench/boot.sh)"
	@MODE=$(MODE) O=$(O) tests/bench/pack.sh "$$(tests/bench/boot.sh)"
bench-large:
	@.ci/deps build python
	$(again) all
	@python3 tests/bench/large.py $(O)/vpt $(O)/guest $(GB)
bench-different:
	@.ci/deps build bench guest debian kernel
	$(again) all
	@python3 tests/bench/different.py $(O)/vpt $(O)/guest patches/tools build/bench-different $(GB)
bench-exports:
	@.ci/deps build python
	$(again) all $(O)/tests/repeat
	@python3 tests/bench/exports.py $(O)/vpt $(O)/tests/repeat $(TRACE)
bench-linux:
	@.ci/deps build bench guest debian
	$(again) all
	@MODE=$(MODE) O=$(O) tests/bench/linux.sh
bench-against:
	@.ci/deps build python
	$(again) all $(O)/tests/cputime
	@O=$(O) JOBS=$(JOBS) tests/bench/against.sh $(BASE)

# Failing allocations and system calls: see tests/fuzz/faults/faults.c.
FAULTS := $(O)/tests/faults-run
FAULTS_SHIM := $(O)/tests/faults-shim.so
FAULTS_MAX ?= 200
faults-build: $(FAULTS) $(FAULTS_SHIM)
$(FAULTS): $(O)/tests/fuzz/faults/faults.o $(O)/tests/fuzz/faults/inject.o $(O)/tests/fuzz/faults/tree.o
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $^
$(FAULTS_SHIM): tests/fuzz/faults/shim.c tests/fuzz/faults/shim.h
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) -Itests -O2 -g $(WARN) -std=gnu11 -D_GNU_SOURCE -fPIC -shared -o $@ $<
.PHONY: faults-build check-faults
check-faults:
	$(prepare)
	$(again) all faults-build
	@O=$(O) MODE=$(MODE) tests/fuzz/faults/faults.sh $(FAULTS_MAX)

# Forged files: see tests/fuzz/forged/forged.c.
FORGED := $(O)/tests/forged-run
FORGED_SRC := $(sort $(wildcard tests/fuzz/forged/*.c))
forged-build: $(FORGED)
$(FORGED): $(FORGED_SRC:%.c=$(O)/%.o) $(TEST_RAW) $(LIBVMM) $(LIBVPT)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(TEST_RAW) $(LIBVMM) $(LIBVPT) \
		$(VMM_LIBS)
.PHONY: forged-build check-forged soak-hostile
check-forged: COUNT = 100000
check-forged:
	$(prepare)
	$(again) MODE=san O=build/san all forged-build
	@MODE=san O=build/san tests/fuzz/forged/forged.sh -n $(COUNT) $(if $(SEED),-f $(SEED)) -j $(JOBS) \
		$(if $(KIND),-k $(KIND))

soak-hostile: SECONDS = 600
soak-hostile:
	$(prepare)
	$(again) all
	@O=$(O) MODE=$(MODE) tests/run/hostile_guests.sh -s $(SECONDS) \
		-j $(if $(findstring command,$(origin JOBS)),$(JOBS),1)
