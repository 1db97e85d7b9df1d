# SPDX-License-Identifier: GPL-2.0-or-later
# One Makefile for everything; each part adds its own */build.mk.
# Lines that begin with "#?" are what `make help` prints.
#?
#? vpt: Intel Processor Trace for virtual machines.
#?
#? Begin here (both install the Debian packages they miss, by name):
#?   make demo          build, trace a small guest and a boot of Linux, print calls, prove the
#?                      traces right (needs the network once)
#?   make check         every test: units, house rules, guests, random programs, bad input

VERSION := 0.1.0

MODE ?= rel
O ?= build/$(MODE)
PREFIX ?= /usr/local
V ?= 0
WERROR ?= 1
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
FUZZ_SECONDS ?= 600
RANDOM_SEEDS ?= 200
CROSS_COMPILE ?=
CC := $(CROSS_COMPILE)gcc
CXX := $(CROSS_COMPILE)g++
LD := $(CROSS_COMPILE)ld
AR := $(CROSS_COMPILE)ar
OBJCOPY := $(CROSS_COMPILE)objcopy

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

ifeq ($(V),0)
say = @printf '  %-7s %s\n' '$(1)' '$(patsubst $(O)/%,%,$(2))';
endif

WARN := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wvla -Wformat=2 -Wundef
WARN += $(if $(filter 1,$(WERROR)),-Werror)

#?
#? Variables:
#?   MODE=rel           rel, dbg, asan, ubsan, san (both), tsan, cov or fuzz: objects go to build/MODE
#?   V=1                print the commands
#?   O=DIR              put what is built in DIR instead
#?   WERROR=0           let warnings pass
#?   CROSS_COMPILE=PREFIX  build for another host, such as aarch64-linux-gnu-: without the software CPU
mode-rel := -O2 -g -DNDEBUG
mode-dbg := -Og -g3
mode-asan := -O1 -g -fsanitize=address -fno-omit-frame-pointer
mode-ubsan := -O1 -g -fsanitize=undefined -fno-sanitize-recover=all
mode-san := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
mode-tsan := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
mode-cov := -O0 -g --coverage
mode-fuzz := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
ifeq ($(MODE),fuzz)
CC := clang
# A struct that ends in an array, inside another: how KVM's interface is used.
WARN += -Wno-gnu-variable-sized-type-not-at-end
endif
# GCC warns wrongly of code to which it has added the sanitizer's calls. The sanitizer does not see the
# fence of the KVM engine, and may then report a race there.
ifeq ($(MODE),tsan)
WARN += -Wno-maybe-uninitialized -Wno-tsan
endif
ifeq ($(mode-$(MODE)),)
$(error MODE=$(MODE) is not one of rel dbg asan ubsan san tsan cov fuzz)
endif

# The processor that vpt is built for. The VMM is for x86-64 only; everything else is for each
# little-endian host with 64 bits (docs/architecture.md). RUN starts a program of this host.
HOST := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
HAS_VMM := $(filter x86_64,$(HOST))
RUN := $(if $(CROSS_COMPILE),qemu-$(HOST))

harden-x86_64 := -fcf-protection=full
# Without fused operations the digits of fractions are those of x86-64.
harden-aarch64 := -mbranch-protection=standard -ffp-contract=off
# What some distributions' compilers do by themselves and others do not; .ci/check-hardened
# looks at the result. Guests have flags of their own (guest/build.mk).
HARDEN := -fPIE $(harden-$(HOST)) -fstack-clash-protection
CPPFLAGS := -Ishared/include -Ivmm -U_FORTIFY_SOURCE \
	-D_FORTIFY_SOURCE=$(if $(filter rel,$(MODE)),2,0)
CFLAGS := $(mode-$(MODE)) $(HARDEN) $(WARN) -fno-common
LDFLAGS := $(mode-$(MODE)) -pie -Wl,-z,relro,-z,now,-z,noexecstack
LDFLAGS_STATIC = $(filter-out -pie,$(LDFLAGS)) -static

# The library goes where nobody provides __stack_chk_fail.
SHARED_CFLAGS := -std=c11 -ffreestanding -fno-stack-protector
VMM_CFLAGS := -std=gnu11 -D_GNU_SOURCE -DVPT_VERSION='"$(VERSION)"' -fstack-protector-strong

include shared/build.mk
include vmm/build.mk
include $(if $(HAS_VMM),guest/build.mk)
include tests/build.mk
include $(wildcard patches/build.mk patches/*/build.mk)

#?
#? Building:
#?   make               the vpt command, libvpt, libvptdecode and the guests
#?   make install       program, libraries, headers, pkg-config, manual pages, completion; DESTDIR=, PREFIX=
#?   make uninstall     remove exactly those
#?   make deb           Debian packages: vpt, libvpt0, libvpt-dev, libvptdecode0, libvptdecode-dev
#?   make deps          install the Debian packages that building and testing need
#?   make clean         remove build/
.PHONY: all clean help deps demo figures format
all: $(ALL)

clean:
	rm -rf build

help:
	@sed -n 's/^#? \{0,1\}//p' $(MAKEFILE_LIST)

# -j for a sub-make, unless the user chose one.
jobs = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))
again = +@$(MAKE) --no-print-directory $(if $(filter 0,$(V)),-s) $(jobs)

deps:
	@.ci/deps build check format fuzz

demo:
	@.ci/deps build
	$(again) all
	@MODE=$(MODE) O=$(O) .ci/demo
	@MODE=$(MODE) O=$(O) .ci/demo-boot

#?   make figures       renew the output shown in README.md and docs/, and docs/demo.svg
figures:
	$(again) all
	@MODE=$(MODE) O=$(O) tests/docs/examples.sh --update

#?   make format        clang-format every C file
format:
	@.ci/deps format
	@.ci/check-format --fix

# What is installed, as pairs TREE:SYSTEM. The tables that headers expand go beside
# them, so that -I of one folder is enough; `installed` is that rewriting.
HEADERS := $(sort $(wildcard shared/include/vpt/*.h shared/include/vpt/abi/*.h))
TABLES := $(sort $(wildcard shared/spec/*.def))
PAGES := $(sort $(wildcard docs/man/*.[1-9]))
dest = $(DESTDIR)$(PREFIX)
# zsh looks for functions of packages in one folder, and for those of others in another.
BASH_COMPLETION = $(PREFIX)/share/bash-completion/completions
ZSH_COMPLETION = $(PREFIX)/share/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)
installed = sed 's,"\(\.\./\)*spec/,"spec/,'

INSTALLED = $(PREFIX)/bin/vpt $(PREFIX)/lib/libvpt.a $(PREFIX)/lib/pkgconfig/vpt.pc \
	$(PREFIX)/lib/$(notdir $(LIBVPT_SO)) $(PREFIX)/lib/libvpt.so \
	$(PREFIX)/lib/libvptdecode.a $(PREFIX)/lib/$(notdir $(DECODE_SO)) \
	$(PREFIX)/lib/libvptdecode.so $(PREFIX)/lib/pkgconfig/vptdecode.pc \
	$(PREFIX)/include/vptdecode.h $(BASH_COMPLETION)/vpt $(ZSH_COMPLETION)/_vpt \
	$(patsubst shared/include/%,$(PREFIX)/include/%,$(HEADERS)) \
	$(patsubst shared/spec/%,$(PREFIX)/include/vpt/spec/%,$(TABLES)) \
	$(foreach page,$(PAGES),$(PREFIX)/share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page)))

.PHONY: install uninstall
install: all
	@mkdir -p $(addprefix $(DESTDIR),$(sort $(dir $(INSTALLED))))
	install -m 755 $(VPT) $(dest)/bin/vpt
	install -m 644 $(LIBVPT) $(DECODE_A) $(dest)/lib/
	install -m 755 $(LIBVPT_SO) $(DECODE_SO) $(dest)/lib/
	ln -sf $(notdir $(LIBVPT_SO)) $(dest)/lib/libvpt.so
	ln -sf $(notdir $(DECODE_SO)) $(dest)/lib/libvptdecode.so
	install -m 644 vmm/libdecode/vptdecode.h $(dest)/include/
	@for file in $(HEADERS:shared/include/%=%); do \
		$(installed) shared/include/$$file >$(dest)/include/$$file && \
		chmod 644 $(dest)/include/$$file || exit 1; done
	install -m 644 $(TABLES) $(dest)/include/vpt/spec/
	install -m 644 $(O)/completion.bash $(DESTDIR)$(BASH_COMPLETION)/vpt
	install -m 644 $(O)/completion.zsh $(DESTDIR)$(ZSH_COMPLETION)/_vpt
	@for page in $(PAGES); do \
		install -m 644 $$page $(dest)/share/man/man$${page##*.}/ || exit 1; done
	@printf '%s\n' 'prefix=$(PREFIX)' 'Name: vpt' 'Version: $(VERSION)' \
		'Description: Intel Processor Trace as state machine, packet generator and parser' \
		'Cflags: -I$${prefix}/include' 'Libs: -L$${prefix}/lib -lvpt' \
		>$(dest)/lib/pkgconfig/vpt.pc
	@printf '%s\n' 'prefix=$(PREFIX)' 'Name: vptdecode' 'Version: $(VERSION)' \
		'Description: what a processor executed, from Intel PT packets and code' \
		'Cflags: -I$${prefix}/include' 'Libs: -L$${prefix}/lib -lvptdecode' \
		'Libs.private: -lZydis' >$(dest)/lib/pkgconfig/vptdecode.pc

uninstall:
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	@rmdir -p --ignore-fail-on-non-empty $(addprefix $(DESTDIR),$(sort $(dir $(INSTALLED)))) \
		2>/dev/null || :

.PHONY: deb check-deb
deb:
	@.ci/deps build deb
	+@$(MAKE) --no-print-directory $(if $(filter 0,$(V)),-s) $(jobs) MODE=rel O=build/rel all
	@rm -rf build/deb
	@.ci/deb build/deb
check-deb: deb
	@.ci/deps build check
	@tests/lib/run.sh -d build/deb-check '.ci/check-deb build/deb'

# Objects are compiled anew when the flags have changed. Several makes may look at once.
FLAGS_NOW := $(CPPFLAGS) $(mode-$(MODE)) $(HARDEN) $(SHARED_CFLAGS) $(VMM_CFLAGS) $(LDFLAGS)
.PHONY: always
$(O)/flags: always
	@mkdir -p $(@D); new=$@.$$$$; echo '$(subst ','"'"',$(FLAGS_NOW))' >$$new; \
		if cmp -s $$new $@; then rm $$new; else mv $$new $@; fi

# Objects by layer: $(O)/shared/src/x.o from shared/src/x.c and so on.
$(O)/shared/%.o: shared/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS) $(CFLAGS) $(SHARED_CFLAGS) -MMD -MP -c -o $@ $<
$(O)/vmm/%.o: vmm/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS) $(CFLAGS) $(VMM_CFLAGS) -MMD -MP -c -o $@ $<
$(O)/tests/%.o: tests/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(VMM_CFLAGS) -MMD -MP -c -o $@ $<

-include $(shell find $(O) -name '*.d' 2>/dev/null)
