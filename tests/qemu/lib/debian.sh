# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of guest() for the Debian of patches/tools/perf-guest on the first disk.
# shellcheck shell=sh

# Run a command in Debian, as root, with its own /tmp.
debian() { # COMMAND [ARG...]
	if [ ! -d /mnt/usr ]; then
		mkdir -p /mnt
		# Under vpt run the shared folder has the files of the disk.
		if [ -d "$folder/disk1" ]; then
			mount -o bind "$folder/disk1" /mnt || return 1
		else
			mount -t ext4 -o ro /dev/disk/1 /mnt || return 1
		fi
		for dir in proc sys dev; do mount -o bind /$dir /mnt/$dir; done
		for dir in debug tracing; do mount -o bind /sys/kernel/$dir /mnt/sys/kernel/$dir; done
		for dir in tmp root run var/tmp; do mount -t tmpfs tmp /mnt/$dir; done
	fi
	chroot /mnt /usr/bin/env -i -C /tmp PATH=/usr/sbin:/usr/bin HOME=/root TERM=dumb LC_ALL=C "$@"
}
