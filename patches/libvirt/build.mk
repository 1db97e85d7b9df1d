# SPDX-License-Identifier: GPL-2.0-or-later
# Our QEMU under libvirt, and with KVM. Not part of `all`: it needs a network and more packages.
#?   make check-libvirt domains that require intel-pt, with our QEMU and with Debian's
#?   make check-qemu-kvm -accel kvm with pt-emulate=on; needs /dev/kvm
.PHONY: check-libvirt check-qemu-kvm
check-libvirt:
	@.ci/deps build qemu guest libvirt
	$(again) all
	@O=$(O) JOBS=$(JOBS) tests/qemu/libvirt/check

check-qemu-kvm:
	@.ci/deps build qemu
	@O=$(O) JOBS=$(JOBS) tests/qemu/kvm
