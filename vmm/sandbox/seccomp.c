// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The filter of system calls. It is written as BPF, because libseccomp would be one more library
 * for a list of numbers and a few tests of arguments.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "sandbox/calls.h"
#include "sandbox/sandbox.h"

#if defined(__SANITIZE_ADDRESS__)
#define IS_ASAN 1
#elif defined(__has_feature)
#define IS_ASAN __has_feature(address_sanitizer)
#else
#define IS_ASAN 0
#endif

#define X32	  0x40000000u
#define KVM_TYPE  0xaeu
#define UFFD_TYPE 0xaau
#define NAMESPACES \
	0x7e020000u		/* CLONE_NEWNS and the others; clone() does not support
                                 * CLONE_NEWTIME */
#define TMPFILE_BIT 020000000u	/* the distinctive bit of O_TMPFILE, which has several */
#define PR_SET_VMA_ 0x53564d41u /* malloc() names its memory with this option */

#define REFUSE (SECCOMP_RET_ERRNO | EPERM)

static const int allowed[] = {
	/* Files, most of them through open descriptors. */
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_pread64,
	SYS_pwrite64,
	SYS_preadv,
	SYS_pwritev,
	SYS_lseek,
	SYS_close,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_statfs,
	SYS_fstatfs,
	SYS_faccessat,
	SYS_faccessat2,
	SYS_readlinkat,
	SYS_getcwd,
	SYS_getdents64,
	SYS_fcntl,
	SYS_flock,
	SYS_dup,
	SYS_pipe2,
	SYS_ppoll,
	SYS_ftruncate,
	SYS_fallocate,
	SYS_fsync,
	SYS_fdatasync,
	SYS_fadvise64,
	/* These calls give an output its name. */
	SYS_linkat,
	SYS_renameat,
	SYS_renameat2,
	SYS_unlinkat,
	SYS_mkdirat,
	/* Memory. The filter checks the arguments of mmap and mprotect. */
	SYS_munmap,
	SYS_mremap,
	SYS_madvise,
	SYS_mincore,
	SYS_brk,
	SYS_msync,
	SYS_memfd_create,
	/* Signals and time. */
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_sigaltstack,
	SYS_timer_create,
	SYS_timer_settime,
	SYS_timer_gettime,
	SYS_timer_getoverrun,
	SYS_timer_delete,
	SYS_setitimer,
	SYS_nanosleep,
	SYS_clock_nanosleep,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_gettimeofday,
	SYS_tgkill,
	SYS_restart_syscall,
	/* The process itself, and the child that reads debug information. */
	SYS_getpid,
	SYS_getppid,
	SYS_gettid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_futex,
	SYS_set_robust_list,
	SYS_set_tid_address,
	SYS_rseq,
	SYS_getrlimit,
	SYS_setrlimit,
	SYS_prlimit64,
	SYS_getrusage,
	SYS_sysinfo,
	SYS_uname,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_getcpu,
	SYS_getrandom,
	SYS_wait4,
	SYS_exit,
	SYS_exit_group,
	SANDBOX_OLD_ALLOWED,
};

/* vpt never makes these calls, so only an attacker makes them. */
static const int deadly[] = {
	SYS_execve,
	SYS_execveat,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_socket,
	SYS_socketpair,
	SYS_connect,
	SYS_bind,
	SYS_listen,
	SYS_accept,
	SYS_accept4,
	SYS_sendto,
	SYS_sendmsg,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_bpf,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_fsopen,
	SYS_fsmount,
	SYS_open_tree,
	SYS_move_mount,
	SYS_mount_setattr,
	SYS_unshare,
	SYS_setns,
	SYS_add_key,
	SYS_request_key,
	SYS_keyctl,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_kexec_file_load,
	SYS_reboot,
	SYS_userfaultfd,
	SYS_io_uring_setup,
	SYS_io_uring_enter,
	SYS_io_uring_register,
	SYS_setuid,
	SYS_setgid,
	SYS_setreuid,
	SYS_setregid,
	SYS_setresuid,
	SYS_setresgid,
	SYS_setgroups,
	SYS_personality,
	SYS_swapon,
	SYS_swapoff,
	SYS_open_by_handle_at,
	SYS_pidfd_getfd,
	SYS_fanotify_init,
	SYS_ptrace,
	SANDBOX_OLD_DEADLY,
};

/* Higher than all call numbers in the lists. The last range covers all higher calls. */
#define CALLS 512u

struct program {
	struct sock_filter code[2 * CALLS];
	unsigned short len;
};

/* The action for all call numbers from `from` up to the next range. */
struct range {
	uint32_t from;
	uint32_t action;
};

static void put(struct program *p, uint16_t op, uint32_t k, uint8_t yes, uint8_t no)
{
	if (p->len < sizeof(p->code) / sizeof(p->code[0]))
		p->code[p->len++] = (struct sock_filter){op, yes, no, k};
}

static void ret(struct program *p, uint32_t action)
{
	put(p, BPF_RET | BPF_K, action, 0, 0);
}

static void load(struct program *p, size_t at)
{
	put(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)at, 0, 0);
}

/* Load the lower half of an argument. The kernel ignores the upper half of flags and commands. */
static void load_arg(struct program *p, unsigned int n)
{
	load(p, offsetof(struct seccomp_data, args) + 8 * n);
}

static void judge(struct program *p, int call, uint32_t action)
{
	put(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1);
	ret(p, action);
}

/* Refuse the call if bits of an argument are set. */
static void without(struct program *p, int call, unsigned int arg, uint32_t bits)
{
	put(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4);
	load_arg(p, arg);
	put(p, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
	ret(p, REFUSE);
	ret(p, SECCOMP_RET_ALLOW);
}

/*
 * Allow KVM's ioctls, the ioctl of isatty(), and FIONREAD with a network. The engine kvm-pt also
 * needs those of an open userfaultfd. Refuse all others, because TIOCSTI types into the terminal.
 * Test them first, because every guest entry is one.
 */
static void ioctls(struct program *p, const struct sandbox_want *want)
{
	put(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 9);
	load_arg(p, 1);
	put(p, BPF_JMP | BPF_JEQ | BPF_K, TCGETS, 5, 0);
	put(p, BPF_JMP | BPF_JEQ | BPF_K, want->network ? FIONREAD : TCGETS, 4, 0);
	put(p, BPF_ALU | BPF_RSH | BPF_K, _IOC_TYPESHIFT, 0, 0);
	put(p, BPF_ALU | BPF_AND | BPF_K, _IOC_TYPEMASK, 0, 0);
	put(p, BPF_JMP | BPF_JEQ | BPF_K, want->caps ? UFFD_TYPE : KVM_TYPE, 1, 0);
	put(p, BPF_JMP | BPF_JEQ | BPF_K, KVM_TYPE, 0, 1);
	ret(p, SECCOMP_RET_ALLOW);
	ret(p, REFUSE);
}

static void prctls(struct program *p)
{
	static const uint32_t options[] = {PR_SET_NO_NEW_PRIVS, PR_SET_NAME, PR_SET_VMA_};
	const size_t count = sizeof(options) / sizeof(options[0]);
	size_t i;

	put(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, (uint8_t)(2 * count + 2));
	load_arg(p, 0);
	for (i = 0; i < count; i++)
		judge(p, (int)options[i], SECCOMP_RET_ALLOW);
	ret(p, REFUSE);
}

static void arguments(struct program *p, const struct sandbox_want *want)
{
	const uint32_t exec = want->code ? 0 : PROT_EXEC;
	uint32_t writes = O_ACCMODE | O_CREAT | O_TRUNC | TMPFILE_BIT;
	unsigned int i;

	for (i = 0; i < SANDBOX_OUTPUTS; i++)
		if (want->output[i])
			writes = 0;
	if (want->kvm || want->share)
		writes = 0;
	without(p, SYS_openat, 2, writes);
	if (SANDBOX_OPEN != SANDBOX_NO_CALL)
		without(p, SANDBOX_OPEN, 1, writes);
	without(p, SYS_mmap, 2, exec);
	without(p, SYS_mprotect, 2, exec);
	without(p, SYS_clone, 0, NAMESPACES);
	/*
	 * The filter cannot read the flags of clone3(), which are in memory. libc falls back to
	 * clone().
	 */
	judge(p, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
	if (!IS_ASAN)
		prctls(p);
}

static void set(uint32_t *actions, const int *calls, size_t n, uint32_t action)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((unsigned int)calls[i] < CALLS)
			actions[calls[i]] = action;
}

#define SET(actions, calls, action) set(actions, calls, sizeof(calls) / sizeof((calls)[0]), action)

static size_t find_ranges(const struct sandbox_want *want, struct range *ranges)
{
	/* LeakSanitizer stops and reads its own process at the end. */
	static const int of_asan[] = {SYS_ptrace, SYS_prctl, SYS_process_vm_readv,
				      SANDBOX_OLD_OF_ASAN};
	static const int of_socket[] = {SYS_accept4, SYS_sendto};
	static const int of_network[] = {
		SYS_socket,	 SYS_connect,	  SYS_bind,	  SYS_listen,	  SYS_accept,
		SYS_accept4,	 SYS_sendto,	  SYS_sendmsg,	  SYS_recvfrom,	  SYS_recvmsg,
		SYS_getsockname, SYS_getpeername, SYS_setsockopt, SYS_getsockopt, SYS_shutdown,
	};
	uint32_t actions[CALLS], call;
	size_t n = 0;

	for (call = 0; call < CALLS; call++)
		actions[call] = want->watch ? SECCOMP_RET_ALLOW : REFUSE;
	SET(actions, deadly, SECCOMP_RET_KILL_PROCESS);
	if (!want->watch)
		SET(actions, allowed, SECCOMP_RET_ALLOW);
	if (want->socket || want->listener)
		SET(actions, of_socket, SECCOMP_RET_ALLOW);
	if (want->network)
		SET(actions, of_network, SECCOMP_RET_ALLOW);
	if (IS_ASAN)
		SET(actions, of_asan, SECCOMP_RET_ALLOW);
	for (call = 0; call < CALLS; call++)
		if (!n || ranges[n - 1].action != actions[call])
			ranges[n++] = (struct range){call, actions[call]};
	return n;
}

/*
 * Search the ranges by bisection. The kernel runs a new filter once for each system call number, to
 * find the calls that are always allowed. A list of comparisons would take half a millisecond.
 */
static void search(struct program *p, const struct range *ranges, size_t n)
{
	/* A jump skips at most 255 instructions, and m ranges take 2m - 1. */
	size_t lower = n / 2 < 128 ? n / 2 : 128;

	if (n == 1) {
		ret(p, ranges->action);
		return;
	}
	put(p, BPF_JMP | BPF_JGE | BPF_K, ranges[lower].from, (uint8_t)(2 * lower - 1), 0);
	search(p, ranges, lower);
	search(p, ranges + lower, n - lower);
}

int sandbox_seccomp(const struct sandbox_want *want)
{
	struct program p = {.len = 0};
	struct sock_fprog prog = {.filter = p.code};
	struct range ranges[CALLS];

	load(&p, offsetof(struct seccomp_data, arch));
	put(&p, BPF_JMP | BPF_JEQ | BPF_K, SANDBOX_ARCH, 1, 0);
	ret(&p, SECCOMP_RET_KILL_PROCESS);
	load(&p, offsetof(struct seccomp_data, nr));
	put(&p, BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1);
	ret(&p, SECCOMP_RET_KILL_PROCESS);
	if (!want->watch) {
		ioctls(&p, want);
		arguments(&p, want);
	}
	search(&p, ranges, find_ranges(want, ranges));
	prog.len = p.len;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) ? -errno : 0;
}
