// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocations fail in a preloaded library. System calls fail at the kernel's entry, where a seccomp
 * filter passes the calls of one kind to the tracer. This includes calls made by libc itself, such
 * as stdio's writes and malloc()'s mappings.
 */
#include "fuzz/faults/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz/faults/shim.h"

const char *const fault_names[FAULT_KINDS] = {"malloc", "mmap", "write", "ftruncate", "fsync"};

static const struct {
	int call[4];
	int error;
} kinds[FAULT_KINDS] = {
	[FAULT_MMAP] = {{SYS_mmap, SYS_mremap}, ENOMEM},
	[FAULT_WRITE] = {{SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev}, ENOSPC},
	[FAULT_FTRUNCATE] = {{SYS_ftruncate, SYS_fallocate}, ENOSPC},
	[FAULT_FSYNC] = {{SYS_fsync, SYS_fdatasync}, EIO},
};

static void die(const char *what)
{
	fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* Install a filter that passes the calls of a kind, and the mark, to the tracer. */
static void filter(enum fault_kind kind)
{
	struct sock_filter code[16] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
	};
	struct sock_fprog program = {.filter = code};
	size_t n = 3, i;

	for (i = 0; i < 4; i++) {
		/* Number 0 is read(). */
		if (!kinds[kind].call[i])
			continue;
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (uint32_t)kinds[kind].call[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(98);
}

static void redirect(const char *path, int to)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(98);
	close(fd);
}

static void child(char *const *argv, const char *dir, const char *out, const char *err,
		  const char *shim, const struct fault *fault, int fd)
{
	int null = open("/dev/null", O_RDONLY);
	char text[16];

	snprintf(text, sizeof(text), "%d", fd);
	setenv("LD_PRELOAD", shim, 1);
	setenv(SHIM_FD, text, 1);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		_exit(98);
	close(null);
	redirect(out, STDOUT_FILENO);
	redirect(err, STDERR_FILENO);
	if (chdir(dir))
		_exit(98);
	if (fault->kind != FAULT_MALLOC) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(98);
		raise(SIGSTOP);
		filter(fault->kind);
	}
	execv(argv[0], argv);
	_exit(98);
}

static bool counts(enum fault_kind kind, const struct user_regs_struct *regs)
{
	return kind != FAULT_WRITE || (int)regs->rdi != STDERR_FILENO;
}

/* Handle a call that the filter passes to the tracer. */
static void inspect(pid_t pid, const struct fault *fault, struct fault_run *run, bool *active)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs))
		return;
	if (regs.orig_rax == SYS_getpgid) {
		*active |= regs.rdi == SHIM_MARK;
		return;
	}
	if (!*active || !counts(fault->kind, &regs))
		return;
	run->calls++;
	if (!fault->k || run->calls < fault->k || (run->calls > fault->k && !fault->stay))
		return;
	run->fired++;
	regs.orig_rax = UINT64_MAX;
	regs.rax = (uint64_t)-kinds[fault->kind].error;
	(void)ptrace(PTRACE_SETREGS, pid, NULL, &regs);
}

/* Return the signal to deliver, unless the injector caused the stop. */
static int signal_of(int status)
{
	int sig = WSTOPSIG(status);

	return status >> 16 || sig == SIGTRAP || sig == SIGSTOP ? 0 : sig;
}

static void trace(pid_t pid, const struct fault *fault, struct fault_run *run)
{
	bool active = false;
	int status;
	pid_t who;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		die("the child does not stop");
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL,
		   PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE |
			   PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK))
		die("ptrace");
	(void)ptrace(PTRACE_CONT, pid, NULL, NULL);
	for (;;) {
		who = waitpid(-1, &status, __WALL);
		if (who < 0 && errno == EINTR)
			continue;
		if (who < 0)
			die("waitpid");
		if (!WIFSTOPPED(status)) {
			if (who == pid) {
				run->status = status;
				return;
			}
			continue;
		}
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8))
			inspect(who, fault, run, &active);
		(void)ptrace(PTRACE_CONT, who, NULL, (void *)(uintptr_t)signal_of(status));
	}
}

static pid_t running;
static volatile sig_atomic_t late;

static void on_alarm(int sig)
{
	(void)sig;
	late = 1;
	kill(running, SIGKILL);
}

static void limit(unsigned int seconds)
{
	const struct itimerval timer = {.it_value = {.tv_sec = seconds}};

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &timer, NULL);
}

void fault_inject(char *const *argv, const char *dir, const char *out, const char *err,
		  const char *shim, const struct fault *fault, struct fault_run *run)
{
	int fd = memfd_create("vpt-faults", 0);
	struct shim *shared;

	memset(run, 0, sizeof(*run));
	if (fd < 0 || ftruncate(fd, sizeof(*shared)))
		die("memfd");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	if (fault->kind == FAULT_MALLOC) {
		shared->fail = fault->k;
		shared->stay = fault->stay;
	}
	late = 0;
	running = fork();
	if (running < 0)
		die("fork");
	if (!running)
		child(argv, dir, out, err, shim, fault, fd);
	limit(FAULT_SECONDS);
	if (fault->kind != FAULT_MALLOC) {
		trace(running, fault, run);
	} else {
		while (waitpid(running, &run->status, 0) < 0 && errno == EINTR)
			;
		run->calls = shared->calls;
		run->fired = shared->fired;
	}
	limit(0);
	run->hung = late;
	munmap(shared, sizeof(*shared));
	close(fd);
	if (WIFEXITED(run->status) && WEXITSTATUS(run->status) == 98)
		die("the command cannot be started");
}
