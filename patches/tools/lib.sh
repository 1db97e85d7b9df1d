# SPDX-License-Identifier: GPL-2.0-or-later
# What the tools share: one way to fail, one cache, one way to get Debian's files.
# shellcheck shell=sh disable=SC2154 # tool
# Sourced with the tool's name in $tool, the repository as working directory, and in
# $from the directory where the tool was called.

cache=${VPT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vpt}
scratch=
root=$PWD
# Sources of others are built by their own makes: not with what ours was called with.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL O

say() { echo "$tool: $1" >&2; }

fail() {
	echo "$tool: $1" >&2
	exit 1
}

# A path as it was meant where the tool was called.
path_of() {
	case $1 in
	/*) echo "$1" ;;
	*) echo "$from/$1" ;;
	esac
}

# A directory of our own, gone when the tool ends, however it ends. apt's
# unprivileged user must be able to walk through it.
make_scratch() {
	[ -z "$scratch" ] || return 0
	scratch=$(mktemp -d "${TMPDIR:-/tmp}/vpt-$tool.XXXXXX") || fail "no temporary directory"
	chmod 755 "$scratch"
	trap 'rm -rf "$scratch"' EXIT
	trap 'exit 1' INT TERM HUP
}

# The hash of a text and of the names and contents of files, whose names are read.
hash_of() { # TEXT
	{
		echo "$1"
		LC_ALL=C sort | xargs -r sha256sum --
	} | sha256sum | cut -c1-16
}

# Write an archive of the files of a directory, the same whenever these were made.
archive() { # DIR
	(cd "$1" && find . -exec touch -h -d @0 {} + && find . | LC_ALL=C sort |
		cpio -o -H newc --quiet --reproducible -R 0:0)
}

# Let COMMAND fill an entry of the cache, once: it is run with an empty directory that
# becomes the entry only if it succeeds. Who wants the same meanwhile waits. What nobody
# has used for two weeks makes room. Sets $entry.
cached() { # NAME HASH COMMAND [ARG...]
	entry=$cache/$1-$2
	if [ -d "$entry" ]; then
		touch -c "$entry" 2>/dev/null
		return 0
	fi
	mkdir -p "$cache" && : >>"$cache/$1.lock" || fail "cannot write to $cache: set VPT_CACHE"
	(
		flock 9
		shift 2
		[ -d "$entry" ] || fill "$@"
	) 9>>"$cache/$1.lock" </dev/null || exit 1
	find "$cache" -maxdepth 1 -type d \( -name "$1-*" -o -name '.part.*' \) -mtime +14 \
		-exec rm -rf {} + 2>/dev/null
	return 0
}

fill() { # COMMAND [ARG...]
	part=$(mktemp -d "$cache/.part.XXXXXX") || fail "cannot write to $cache: set VPT_CACHE"
	trap 'rm -rf "$part"' EXIT
	trap 'exit 1' INT TERM HUP
	chmod 755 "$part"
	("$@" "$part") || exit 1
	mv -T "$part" "$entry" || fail "cannot write to $cache: set VPT_CACHE"
}

# Run a command with its output in a log of the cache. If it fails, show what it calls an
# error, or its last lines, and say where the log is. On a terminal the last line of the output
# is shown while the command runs, which for ninja says how far it is: "[12/1400] Compiling ...".
logged() { # LOG WHAT COMMAND...
	log=$cache/$1
	what=$2
	shift 2
	if [ -t 2 ]; then
		[ "$({ with_status "$@" | tee -a "$log" | show_lines; } 3>&1 >&2)" = 0 ] && return
	else
		"$@" >>"$log" 2>&1 </dev/null && return
	fi
	{ grep -m 5 -E 'error: |^E: |FAILED|^ERROR: ' "$log" || tail -n 5 "$log"; } >&2
	fail "$what: the log is $log"
}

# Run a command with its errors in its output, and write its exit status to file descriptor 3.
with_status() { # COMMAND...
	("$@" 2>&1 3>&- </dev/null)
	echo $? >&3
}

# Show each line of standard input in the place of the one before, and nothing at the end.
show_lines() {
	while IFS= read -r line; do
		printf '\r\033[K%.78s' "$line"
	done
	printf '\r\033[K'
}

begin_log() { # LOG
	mkdir -p "$cache" || fail "cannot write to $cache: set VPT_CACHE"
	: >"$cache/$1"
}

# The mirror of the running Debian, as the configured sources have it, for another
# suite: prints a deb822 source. Both formats of the configuration are understood.
debian_source() { # TYPE SUITE
	codename=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-}")
	[ -n "$codename" ] || return 1
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
		/etc/apt/sources.list.d/*.sources; do
		[ -r "$file" ] && { sed '$a\' "$file"; echo; }
	done | awk -v codename="$codename" -v type="$1" -v suite="$2" '
	function found(uri, key) {
		print "Types: " type "\nURIs: " uri "\nSuites: " suite "\nComponents: main"
		if (key != "")
			print "Signed-By: " key
		done = 1
		exit
	}
	/^[ \t]*#/ { next }
	$1 == "deb" {
		key = ""
		options = 0
		for (i = 2; i <= NF; i++) {
			if ($i ~ /^\[/)
				options = 1
			if (options && match($i, /signed-by=[^] ]*/))
				key = substr($i, RSTART + 10, RLENGTH - 10)
			if (!options && $(i + 1) == codename)
				found($i, key)
			if ($i ~ /\]$/)
				options = 0
		}
		next
	}
	/^[ \t]*$/ {
		if ((" " suites " ") ~ (" " codename " ") && uri != "")
			found(uri, signed)
		uri = suites = signed = ""
	}
	/^URIs:/ { uri = $2 }
	/^Suites:/ { suites = $0 }
	/^Signed-By:/ { signed = $2 }
	END { exit !done }'
}

# apt with a configuration of its own: sources in $scratch/apt/sources, everything it
# writes below $scratch/apt. Nothing of the system's state is changed.
private_apt() { # COMMAND...
	client=$1
	shift
	"$client" -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$scratch/apt/sources" \
		-o Dir::State::Lists="$scratch/apt/lists" -o Dir::Cache="$scratch/apt/cache" \
		-o Acquire::Retries=3 -o APT::Update::Error-Mode=any -o Acquire::Languages=none "$@"
}

private_apt_setup() { # TYPE SUITE LOG
	make_scratch
	rm -rf "$scratch/apt"
	mkdir -p "$scratch/apt/sources" "$scratch/apt/lists/partial" \
		"$scratch/apt/cache/archives/partial"
	debian_source "$1" "$2" >"$scratch/apt/sources/debian.sources" ||
		fail "no Debian mirror in the sources that apt is configured for"
	logged "$3" "apt cannot get the index of $2 (network?)" private_apt apt-get update
}
