# SPDX-License-Identifier: GPL-2.0-or-later
# Get the pinned source package of libipt. Source this file after patches/tools/lib.sh.
# shellcheck shell=sh disable=SC2154 # root and entry are from there

pins=$root/tests/cli/libdecode/ptt/source
. tests/lib/pinned.sh

# Set $archive to the tarball in the cache.
libipt_source() {
	cached ptt-source "$(pinned sha256 | cut -c1-16)" fetch_pinned ptt-source.log
	archive=$entry/$(pinned file)
}

# Write intel-pt.h of the unpacked SOURCE to DIR. Sets $major and $minor.
libipt_header() { # SOURCE DIR
	version=$(pinned version)
	major=${version%%.*}
	minor=${version#*.}
	minor=${minor%%.*}
	sed -e "s/\\\${PT_VERSION_MAJOR}/$major/g; s/\\\${PT_VERSION_MINOR}/$minor/g" \
		-e 's/\${PT_VERSION_[A-Z]*}/0/g' "$1/libipt/include/intel-pt.h.in" >"$2/intel-pt.h" ||
		fail "the source has no intel-pt.h.in"
}
