# SPDX-License-Identifier: GPL-2.0-or-later
# libvirt with our QEMU. Not part of `all`: it needs a network and more packages.
#?   make check-libvirt domains that require intel-pt, with our QEMU and with Debian's
.PHONY: check-libvirt
check-libvirt:
	@.ci/deps build qemu guest libvirt
	@O=$(O) JOBS=$(JOBS) tests/libvirt/check
