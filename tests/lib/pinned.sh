# SPDX-License-Identifier: GPL-2.0-or-later
# Get the tarball of a source package of Debian. Source this file after patches/tools/lib.sh. $pins is a
# file with a line for each of package, suite, version, file and sha256.
# shellcheck shell=sh disable=SC2154 # pins, scratch and entry are from there

pinned() { # KEY
	sed -n "s/^$1 //p" "$pins"
}

# Put the tarball into DIR: a copy of $tarball if that is set.
fetch_pinned() { # LOG DIR
	file=$(pinned file)
	if [ -n "${tarball:-}" ]; then
		cp -- "$tarball" "$2/$file" || fail "cannot read $tarball"
	else
		say "getting $file"
		begin_log "$1"
		private_apt_setup deb-src "$(pinned suite)" "$1"
		cd "$scratch" || exit 1
		logged "$1" "the mirror does not have $(pinned package) $(pinned version)" \
			private_apt apt-get source --download-only --tar-only \
			"$(pinned package)=$(pinned version)"
		mv "$file" "$2/$file" || fail "the mirror's package has no $file"
	fi
	sum=$(sha256sum <"$2/$file" | cut -d' ' -f1)
	[ "$sum" = "$(pinned sha256)" ] || fail "$file: its sha256 is $sum, not $(pinned sha256)"
}
