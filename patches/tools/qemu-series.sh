# SPDX-License-Identifier: GPL-2.0-or-later
# Write the series for QEMU: the stored patches from a git tree, and the first patch, a copy of
# our sources, from this tree. Sourced after lib.sh, with the series' directory in $series.
# shellcheck shell=sh disable=SC2154

copy_subject="target/i386/vpt: add libvpt"
copy_patch=0001-target-i386-vpt-add-libvpt.patch
copy_at=target/i386/vpt
# The library, whole, and what writes .vpt files.
copied="shared/include/* shared/spec/* shared/src/* vmm/trace/crc32c.[ch] vmm/trace/format.h
	vmm/trace/post_mortem.h vmm/trace/vec.h vmm/trace/writer*.[ch]"
# What Debian's patches or ours do to it is not to be told apart by who ran git, or when.
git_identity="-c user.name=vpt -c user.email=vpt@localhost -c commit.gpgsign=false
	-c core.autocrlf=false -c gc.auto=0 -c core.whitespace=-blank-at-eol -c advice.detachedHead=false"

commit() { # DIR COMMAND...
	dir=$1
	shift
	# shellcheck disable=SC2086 # words
	logged qemu-tree.log "git $1 failed" git -C "$dir" $git_identity "$@"
}

copied_files() {
	# shellcheck disable=SC2086 # globs that .ci/files resolves
	(set -f && .ci/files $copied)
}

# Where a file of ours is in QEMU's tree.
place_of() { # FILE
	case $1 in
	shared/*) echo "$copy_at/libvpt/${1#shared/}" ;;
	vmm/trace/*) echo "$copy_at/trace/${1#vmm/trace/}" ;;
	esac
}

copy_sources() { # DIR
	copied_files | while IFS= read -r file; do
		to=$1/$(place_of "$file")
		mkdir -p "$(dirname "$to")" && cp "$file" "$to" || exit 1
	done || fail "cannot copy our sources"
}

# Only what no machine and no day changes.
format_patch() { # TREE NUMBER COMMIT
	git -C "$1" format-patch -1 --start-number "$2" -N --zero-commit --no-signature --no-renames \
		--no-ext-diff --no-textconv --abbrev=12 --stdout "$3" | awk -v date="$(pinned date)" '
		!body && /^From: / { $0 = "From: vpt <vpt@localhost>" }
		!body && /^Date: / { $0 = "Date: " date }
		/^$/ { body = 1 }
		{ print }'
}

# The last commit that touched what is copied.
copied_commit() {
	# shellcheck disable=SC2046 # names
	git log -1 --format=%H -- $(copied_files) | grep . || fail "not a git repository"
}

# The checksum of the copy: of the list that sha256sum prints for its files in QEMU's tree.
copy_checksum() {
	copied_files | xargs sha256sum -- |
		sed "s,  shared/,  $copy_at/libvpt/,; s,  vmm/trace/,  $copy_at/trace/," |
		sort -k2 | sha256sum | cut -d' ' -f1
}

recorded() { # KEY
	sed -n "s/^$1 //p" "$series/library"
}

# A patch that adds the files in DIR, as git reads it.
added_files_patch() { # DIR
	(cd "$1" && find . -type f | sed 's,^\./,,' | sort | while IFS= read -r file; do
		lines=$(wc -l <"$file")
		[ -s "$file" ] && [ -z "$(tail -c1 "$file")" ] || fail "$file does not end with a new line"
		printf 'diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n' \
			"$file" "$file" "$file" "$lines"
		sed 's/^/+/' "$file"
	done)
}

# The first patch of the series, in FILE. Needs neither git nor QEMU.
copy_to_patch() { # FILE
	id=$(recorded commit)
	[ "$(recorded sha256)" = "$(copy_checksum)" ] || id="$id, with changes"
	mkdir -p "$scratch/copy" || fail "cannot write to $scratch"
	copy_sources "$scratch/copy"
	echo "$id" >"$scratch/copy/$copy_at/libvpt/COMMIT"
	cat >"$1" <<-TEXT || fail "cannot write to $1"
		From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
		From: vpt <vpt@localhost>
		Date: $(pinned date)
		Subject: [PATCH] $copy_subject

		The trace unit is a library: registers with all their checks, packet generator,
		output to guest memory. It needs no libc and allocates nothing. trace/ writes
		recordings to a file.

		Both are copies, of the vpt repository at commit
		$id,
		which libvpt/COMMIT names; changes are made there and copied anew.
		---

	TEXT
	added_files_patch "$scratch/copy" >>"$1" || fail "cannot write to $1"
}

# The whole series in DIR.
whole_series() { # DIR
	mkdir -p "$1" || fail "cannot write to $1"
	copy_to_patch "$1/$copy_patch"
	for patch in "$series"/[0-9]*.patch; do
		[ ! -e "$patch" ] || cp "$patch" "$1/" || fail "cannot write to $1"
	done
}

# For those who send or apply it elsewhere: of a commit, or not at all.
series_write() { # DIR
	make_scratch
	series_synced
	whole_series "$1"
	say "$1 has the series with the library of $(recorded commit)"
}

series_sync() {
	id=$(copied_commit) || exit 1
	# shellcheck disable=SC2046 # names
	[ -z "$(git status --porcelain -- $(copied_files))" ] ||
		fail "the copied sources have changes that are not committed: commit them first"
	printf 'commit %s\nsha256 %s\n' "$id" "$(copy_checksum)" >"$series/library" ||
		fail "cannot write to $series"
	say "the series has the library of $id"
}

# The copied sources that are not those of a commit, as far as git knows.
changed_since() { # COMMIT
	git rev-parse -q --verify "$1^{commit}" >/dev/null 2>&1 || return 0
	copied_files | while IFS= read -r file; do
		[ "$(git rev-parse -q --verify "$1:$file" 2>/dev/null)" = "$(git hash-object "$file" 2>/dev/null)" ] ||
			say "not as in $1: $file"
	done
}

# Needs neither git nor QEMU: any check may call it.
series_synced() {
	[ -r "$series/library" ] || fail "there is no $series/library: make sync-patches"
	recorded commit | grep -qxE '[0-9a-f]{40}' || fail "$series/library names no commit"
	[ "$(recorded sha256)" = "$(copy_checksum)" ] && return
	changed_since "$(recorded commit)"
	fail "the library is not that of $series/library: make sync-patches"
}

# A series that is linear, applies, and gives the tree it was made of.
series_export() { # TREE
	make_scratch
	begin_log qemu-tree.log
	base=$(git -C "$1" rev-parse -q --verify 'source^{commit}') ||
		base=$(git -C "$1" rev-list --max-parents=0 HEAD) || fail "$1 is no git tree"
	[ -z "$(git -C "$1" rev-list --merges "$base..HEAD")" ] ||
		fail "$1 has merges since $base: a series is linear"
	number=1
	mkdir -p "$scratch/series"
	for id in $(git -C "$1" rev-list --reverse "$base..HEAD"); do
		[ "$(git -C "$1" log -1 --format=%s "$id")" != "$copy_subject" ] || continue
		[ -z "$(git -C "$1" show --format= --name-only "$id" -- $copy_at/libvpt $copy_at/trace)" ] ||
			fail "$id changes the copy of our sources: these are changed here"
		number=$((number + 1))
		name=$(printf '%04d' $number)-$(git -C "$1" log -1 --format=%f "$id" | cut -c1-52 | sed 's/[-.]*$//').patch
		format_patch "$1" $number "$id" >"$scratch/series/$name"
	done
	[ $number -gt 1 ] || fail "$1 has no commits since $base"
	# In an index of its own: no file of the tree is touched.
	export GIT_INDEX_FILE="$scratch/index"
	commit "$1" read-tree "$base"
	for patch in "$scratch/series"/*; do
		commit "$1" apply --cached --whitespace=nowarn "$patch"
	done
	made=$(git -C "$1" write-tree) || exit 1
	unset GIT_INDEX_FILE
	git -C "$1" diff --quiet "$made" HEAD -- . ":!$copy_at/libvpt" ":!$copy_at/trace" ||
		fail "the series does not give what $1 has"
	find "$series" -name '[0-9]*.patch' -delete
	cp "$scratch/series"/* "$series/" || fail "cannot write to $series"
	say "$((number - 1)) patches behind that of the library"
}
