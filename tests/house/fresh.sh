#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# .ci/check-fresh runs as root and keeps a file in a cache. It must not write where another
# user can plant a link. The network is not used: debootstrap is replaced by a script.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
if [ "$(id -u)" -ne 0 ] || ! unshare --mount true 2>/dev/null; then
	tap_skip "the cache of check-fresh" "needs root and mount namespaces"
	tap_end
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# The stand-in says where it was called, and then that it has no network.
mkdir "$work/bin" "$work/tmp"
cat >"$work/bin/debootstrap" <<'EOF2'
#!/bin/sh
for into; do case $into in /*) stat -c "%a %n" "$(dirname "$into")" >>"$CALLS" ;; esac; done
echo "written by root"
exit 1
EOF2
chmod 755 "$work/bin/debootstrap"

# fresh CACHE: check-fresh with this cache; its output.
fresh() {
	CALLS=$work/calls TMPDIR=$work/tmp PATH=$work/bin:$PATH XDG_CACHE_HOME=$1 .ci/check-fresh 2>&1
}

# A cache of another user, who has planted links to a file of root's.
mkdir -p "$work/theirs/vpt"
echo "root's own" >"$work/victim"
ln -s "$work/victim" "$work/theirs/vpt/debootstrap.log"
chown -R -h 65534 "$work/theirs"
output=$(fresh "$work/theirs")
tap_run "a link planted in the cache is not followed" grep -qx "root's own" "$work/victim"
tap_run "the message names the cache" expr "$output" : ".*$work/theirs/vpt: another user can write"

# A directory above the cache that another user could rename.
mkdir -p "$work/above/.cache/vpt"
chown 65534 "$work/above"
output=$(fresh "$work/above/.cache")
tap_run "nor is a cache used whose parent belongs to another user" \
	expr "$output" : ".*$work/above/.cache/vpt: another user can write"

# A cache of root's: nobody else can enter the directory that debootstrap fills.
: >"$work/calls"
output=$(fresh "$work/cache")
tap_run "a cache of root's is used" expr "$output" : ".*debootstrap failed"
tap_run "debootstrap's output is shown" expr "$output" : ".*written by root"
tap_run "the new system is in a directory of mode 0700" \
	expr "$(cat "$work/calls")" : "700 $work/tmp/vpt-fresh[.]"
tap_empty "nothing is left behind" "$(find "$work/tmp" "$work/cache/vpt" -mindepth 1)"
tap_end
