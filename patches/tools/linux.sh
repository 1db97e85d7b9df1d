# SPDX-License-Identifier: GPL-2.0-or-later
# Which kernel the test bed runs, and its source. Sourced after lib.sh.
# shellcheck shell=sh

kernel_source=linux-source-6.1
kernel_tarball=/usr/src/$kernel_source.tar.xz

# What of the source is kept: what KVM, perf and their tests are made of.
kernel_parts="MAINTAINERS Kbuild Kconfig Makefile COPYING LICENSES .clang-format
	arch/Kconfig arch/x86 virt include kernel/events scripts
	Documentation/virt Documentation/admin-guide Documentation/trace
	tools/Makefile tools/arch tools/build tools/include tools/lib tools/perf tools/scripts
	tools/testing/selftests/lib.mk tools/testing/selftests/Makefile
	tools/testing/selftests/kselftest.h tools/testing/selftests/kselftest_harness.h
	tools/testing/selftests/kselftest tools/testing/selftests/kvm tools/testing/selftests/rseq"

version_of() { # PACKAGE
	dpkg-query -W -f '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null | sed -n 's/^installed //p'
}

# Set $kernel_version, the packages' version, and $kernel, the release: the cloud
# kernel whose headers are installed in the version of the source. Returns 1 if there is none.
match_kernel() {
	kernel_version=$(version_of $kernel_source)
	kernel=
	[ -n "$kernel_version" ] || return 1
	for dir in /usr/src/linux-headers-*-cloud-amd64; do
		name=${dir#/usr/src/linux-headers-}
		[ "$(version_of "linux-headers-$name")" = "$kernel_version" ] && kernel=$name
	done
	[ -n "$kernel" ]
}

# The same, or fail.
find_kernel() {
	[ -r "$kernel_tarball" ] || fail "$kernel_tarball is missing: .ci/deps modules"
	match_kernel || fail "no linux-headers-*-cloud-amd64 in the version $kernel_version of \
$kernel_source is installed: apt-get install $kernel_source linux-headers-cloud-amd64"
}

unpack_kernel() { # DIR
	say "unpacking $kernel_source $kernel_version"
	# shellcheck disable=SC2046,SC2086 # words
	tar -C "$1" --strip-components=1 -I 'xz -T0' -xf "$kernel_tarball" \
		$(for part in $kernel_parts; do echo $kernel_source/$part; done) ||
		fail "$kernel_tarball does not unpack"
}

# Sets $entry to the directory with the parts of the source.
kernel_tree() {
	cached linux-source "$(hash_of "$kernel_version $kernel_parts" </dev/null)" unpack_kernel
}
