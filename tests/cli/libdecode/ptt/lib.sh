# SPDX-License-Identifier: GPL-2.0-or-later
# Get the pinned source package of libipt. Source this file after patches/tools/lib.sh.
# shellcheck shell=sh disable=SC2154 # root, scratch and entry are from there

pinned() { # KEY
	sed -n "s/^$1 //p" "$root/tests/cli/libdecode/ptt/source"
}

# Put the source's tarball into DIR: a copy of $tarball if that is set.
fetch_libipt() { # DIR
	file=$(pinned file)
	if [ -n "${tarball:-}" ]; then
		cp -- "$tarball" "$1/$file" || fail "cannot read $tarball"
	else
		say "getting $file"
		begin_log ptt-source.log
		private_apt_setup deb-src "$(pinned suite)" ptt-source.log
		cd "$scratch" || exit 1
		logged ptt-source.log "the mirror does not have $(pinned package) $(pinned version)" \
			private_apt apt-get source --download-only --tar-only \
			"$(pinned package)=$(pinned version)"
		mv "$file" "$1/$file" || fail "the mirror's package has no $file"
	fi
	sum=$(sha256sum <"$1/$file" | cut -d' ' -f1)
	[ "$sum" = "$(pinned sha256)" ] || fail "$file: its sha256 is $sum, not $(pinned sha256)"
}

# Set $archive to the tarball in the cache.
libipt_source() {
	cached ptt-source "$(pinned sha256 | cut -c1-16)" fetch_libipt
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
