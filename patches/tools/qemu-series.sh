# SPDX-License-Identifier: GPL-2.0-or-later
# The series for QEMU: made of a tree, and its first patch of our own sources. Sourced after
# lib.sh, with the series' directory in $series.
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

series_sync() {
	make_scratch
	begin_log qemu-tree.log
	id=$(copied_commit) || exit 1
	# shellcheck disable=SC2046 # names
	[ -z "$(git status --porcelain -- $(copied_files))" ] ||
		say "the copied sources have changes that are not committed: sync again afterwards"
	new=$scratch/copy
	mkdir -p "$new"
	commit "$new" init
	copy_sources "$new"
	echo "$id" >"$new/$copy_at/libvpt/COMMIT"
	commit "$new" add -A -f
	commit "$new" commit -m "$copy_subject" -m "$(
		cat <<-TEXT
			The trace unit is a library: registers with all their checks, packet generator,
			output to guest memory. It needs no libc and allocates nothing. trace/ writes
			recordings to a file.

			Both are copies, of the vpt repository at commit
			$id,
			which libvpt/COMMIT names; changes are made there and copied anew.
		TEXT
	)"
	format_patch "$new" 1 HEAD >"$series/$copy_patch" || fail "cannot write to $series"
	say "$copy_patch is of $id"
}

# The files of a patch that only adds files, out of it into DIR.
added_files() { # PATCH DIR
	awk -v dir="$2" '
	left > 0 {
		left--
		print substr($0, 2) >file
		next
	}
	/^\+\+\+ b\// {
		if (file)
			close(file)
		file = dir "/" substr($0, 7)
		path = file
		sub(/\/[^\/]*$/, "", path)
		system("mkdir -p \"" path "\"")
	}
	/^@@ -0,0 \+1/ {
		split($3, range, ",")
		left = 2 in range ? range[2] : 1
	}' "$1"
}

# Needs neither git nor QEMU: any check may call it.
series_synced() {
	make_scratch
	[ -r "$series/$copy_patch" ] || fail "there is no $copy_patch: make sync-patches"
	added_files "$series/$copy_patch" "$scratch"
	grep -qxE '[0-9a-f]{40}' "$scratch/$copy_at/libvpt/COMMIT" || fail "$copy_patch names no commit"
	{
		echo "$copy_at/libvpt/COMMIT"
		copied_files | while IFS= read -r file; do
			place_of "$file"
			cmp -s "$file" "$scratch/$(place_of "$file")" || echo "$file" >>"$scratch/stale"
		done
	} | sort >"$scratch/wanted"
	(cd "$scratch" && find $copy_at -type f) | sort | comm -13 "$scratch/wanted" - >>"$scratch/stale"
	[ -s "$scratch/stale" ] || return 0
	sed "s/^/$tool: stale in $copy_patch: /" "$scratch/stale" >&2
	fail "make sync-patches"
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
	find "$series" -name '[0-9]*.patch' ! -name $copy_patch -delete
	cp "$scratch/series"/* "$series/" || fail "cannot write to $series"
	say "$((number - 1)) patches beside $copy_patch"
}
