# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # check: sourced, with $work and $kernel set
# Functions that start a separate libvirtd, and check how domains in it ended.

uri=qemu:///system
virsh() { command virsh -q -c $uri "$@"; }

# Make a guest that prints its processor's flags and powers off.
make_initrd() { # OUT
	local tree=$work/tree
	mkdir -p "$tree/bin" "$tree/proc" && cp -L /bin/busybox "$tree/bin/" || return 1
	ln -s busybox "$tree/bin/sh"
	cat >"$tree/init" <<-'END'
		#!/bin/sh
		/bin/busybox mount -t proc proc /proc
		/bin/busybox grep -m 1 '^flags' /proc/cpuinfo
		echo "guest is done"
		/bin/busybox poweroff -f
	END
	chmod 755 "$tree/init"
	(cd "$tree" && find . | cpio -o -H newc --quiet -R 0:0) >"$1"
}

# Give libvirtd directories of $work in this namespace, and the user that it needs. Directories
# that do not exist outside are created, and stay there empty.
private_directories() {
	local dir
	mount --make-rprivate / || return 1
	for dir in /etc/libvirt /var/lib/libvirt /var/cache/libvirt /var/log/libvirt /run/libvirt; do
		mkdir -p "$dir" "$work$dir" && mount --bind "$work$dir" "$dir" || return 1
	done
	cp /etc/passwd /etc/group "$work/" || return 1
	grep -q '^libvirt-qemu:' "$work/group" || echo 'libvirt-qemu:x:64055:' >>"$work/group"
	grep -q '^libvirt-qemu:' "$work/passwd" ||
		echo 'libvirt-qemu:x:64055:64055::/nonexistent:/bin/false' >>"$work/passwd"
	mount --bind "$work/passwd" /etc/passwd && mount --bind "$work/group" /etc/group || return 1
	cat >/etc/libvirt/qemu.conf <<-'END'
		user = "root"
		group = "root"
		security_driver = "none"
		stdio_handler = "file"
		cgroup_controllers = [ ]
		namespaces = [ ]
		remember_owner = 0
	END
	printf 'auth_unix_ro = "none"\nauth_unix_rw = "none"\n' >/etc/libvirt/libvirtd.conf
}

daemon=
start_libvirtd() {
	local i
	libvirtd -f /etc/libvirt/libvirtd.conf -p "$work/libvirtd.pid" >"$work/libvirtd.log" 2>&1 &
	daemon=$!
	for ((i = 0; i < 300; i++)); do
		! virsh version >/dev/null 2>&1 || return 0
		kill -0 "$daemon" 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}

stop_libvirtd() {
	kill "$daemon" && wait "$daemon"
	rm -f "$work/libvirtd.pid"
}

# Print a domain: the documented one, or a small one with a form of CPU that users write.
documented() { # EMULATOR
	sed "s,@EMULATOR@,$1,; s,@KERNEL@,$kernel,; s,@INITRD@,$work/initrd," patches/libvirt/domain.xml
}

form() { # NAME EMULATOR
	sed "/@FORM@/{
		r tests/qemu/libvirt/forms/$1.xml
		d
	}" tests/qemu/libvirt/domain.xml |
		sed "s,@EMULATOR@,$2,; s,@KERNEL@,$kernel,; s,@INITRD@,$work/initrd,"
}

# Define a domain from standard input under the test's name, and start it.
start() { # NAME
	sed "s,<name>.*</name>,<name>$1</name>,; s,@LOG@,$work/$1.log," >"$work/$1.xml"
	: >"$work/$1.out"
	virsh define "$work/$1.xml" >"$work/$1.out" 2>&1 && virsh start "$1" >>"$work/$1.out" 2>&1
	echo $? >"$work/$1.status"
}

# Check that the domain was refused with one line that has TEXT. Print what else happened.
refused() { # NAME TEXT
	local state
	state=$(virsh domstate "$1" 2>&1)
	virsh undefine "$1" >/dev/null 2>&1
	if [ "$(<"$work/$1.status")" -eq 0 ] || [ "$state" != "shut off" ]; then
		virsh destroy "$1" >/dev/null 2>&1
		echo "it started: $state"
		return
	fi
	[ "$(grep -cF -- "$2" "$work/$1.out")" -eq 1 ] || cat "$work/$1.out"
}

# Check that the domain ran with or without intel_pt, and powered off. Print what else happened.
ran() { # NAME with|without
	local i flags
	if [ "$(<"$work/$1.status")" -ne 0 ]; then
		cat "$work/$1.out"
		virsh undefine "$1" >/dev/null 2>&1
		return
	fi
	for ((i = 0; i < 600; i++)); do
		[ "$(virsh domstate "$1" 2>&1)" != "shut off" ] || break
		sleep 0.1
	done
	virsh destroy "$1" >/dev/null 2>&1 && echo "it did not power off:" && tail -n 3 "$work/$1.log"
	virsh undefine "$1" >/dev/null
	flags=$(tr -d '\r' <"$work/$1.log" | grep '^flags')
	grep -q "guest is done" "$work/$1.log" || tail -n 5 "$work/$1.log"
	case $2,$flags in
	with,*\ intel_pt\ * | with,*\ intel_pt) ;;
	with,*) echo "the guest has no intel_pt: $flags" ;;
	without,*\ intel_pt\ * | without,*\ intel_pt | without,) echo "flags of the guest: $flags" ;;
	esac
}
