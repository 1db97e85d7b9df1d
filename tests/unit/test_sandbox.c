// SPDX-License-Identifier: GPL-2.0-or-later
/* What a process cannot do any more once it is in the sandbox. Each test is a child's. */
#include "lib/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sandbox.h"

static char dir[64];

static void make_dir(void)
{
	snprintf(dir, sizeof(dir), "/tmp/vpt-sandbox.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(mkdir("in", 0700), 0);
	ck_assert_int_eq(mkdir("beside", 0700), 0);
	ck_assert_int_eq(close(open("in/old", O_WRONLY | O_CREAT, 0600)), 0);
	ck_assert_int_eq(close(open("beside/victim", O_WRONLY | O_CREAT, 0600)), 0);
}

static void remove_dir(void)
{
	static const char *const names[] = {"in/old", "in/new",	  "in/named", "beside/victim",
					    "in/sub", "beside/x", "in",	      "beside"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)remove(names[i]);
	ck_assert_int_eq(rmdir(dir), 0);
}

/* Truncation is refused from version 3 on. Without it the kernel is too old for the rows below. */
static bool has_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) >= 3;
}

/* Run @what in a child within the sandbox. Returns the child's exit status, or its signal. */
static int inside(const struct sandbox_want *want, int (*what)(void))
{
	const struct rlimit none = {0};
	int status = 0, error;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (!child) {
		setrlimit(RLIMIT_CORE, &none);
		if ((sandbox_enter(want, &error) | SANDBOX_LANDLOCK) != SANDBOX_ALL ||
		    (error && has_landlock()))
			_exit(99);
		_exit(what());
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static const struct sandbox_want reader;
static const struct sandbox_want writer = {.output = {NULL, "in/new"}};
static const struct sandbox_want sharer = {.share = "in"};
static const struct sandbox_want watcher = {.watch = true};

/* What a call that should fail made of it: an errno, or 0. */
static int result(long value)
{
	return value < 0 ? errno : 0;
}

static int do_execve(void)
{
	char *const argv[] = {(char *)"true", NULL};

	return result(execv("/bin/true", argv));
}

static int do_socket(void)
{
	return result(socket(AF_INET, SOCK_STREAM, 0));
}

static int do_bpf(void)
{
	return result(syscall(SYS_bpf, 0, NULL, 0));
}

static int do_unshare(void)
{
	return result(syscall(SYS_unshare, 0x10000000));
}

static int do_io_uring(void)
{
	return result(syscall(SYS_io_uring_setup, 1, NULL));
}

static int do_keyctl(void)
{
	return result(syscall(SYS_keyctl, 0, 0));
}

static int do_setuid(void)
{
	return result(syscall(SYS_setuid, geteuid()));
}

/* x32: another table of calls. */
static int do_x32(void)
{
	return result(syscall(0x40000000 | SYS_getpid));
}

static int do_ptrace(void)
{
	return result(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static const struct {
	int (*call)(void);
	bool not_asan;
} deadly[] = {
	{do_execve, false},  {do_socket, false}, {do_bpf, false},
	{do_unshare, false}, {do_keyctl, false}, {do_io_uring, false},
	{do_setuid, false},  {do_x32, false},	 {do_ptrace, true},
};

START_TEST(kills)
{
#ifdef __SANITIZE_ADDRESS__
	if (deadly[_i].not_asan)
		return;
#endif
	ck_assert_int_eq(inside(&reader, deadly[_i].call), SIGSYS);
	ck_assert_int_eq(inside(&writer, deadly[_i].call), SIGSYS);
	ck_assert_int_eq(inside(&watcher, deadly[_i].call), SIGSYS);
}
END_TEST

static int do_chown(void)
{
	return result(chown("in/old", 0, 0));
}

static int do_chmod(void)
{
	return result(chmod("in/old", 04755));
}

static int do_symlink(void)
{
	return result(symlink("/etc/passwd", "in/new"));
}

static int do_kill(void)
{
	return result(kill(getppid(), 0));
}

static int do_tgkill(void)
{
	pid_t parent = getppid();

	return result(syscall(SYS_tgkill, parent, parent, 0));
}

/* TIOCSTI: type into the terminal. */
static int do_tiocsti(void)
{
	return result(ioctl(0, TIOCSTI, "x"));
}

static int do_executable(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? errno : 0;
}

static int do_make_executable(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? 98 : result(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int do_namespace(void)
{
	return result(syscall(SYS_clone, 0x10000000 | SIGCHLD, NULL, NULL, NULL, 0));
}

static int do_clone3(void)
{
	return result(syscall(SYS_clone3, NULL, 0));
}

static int do_prctl(void)
{
	return result(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}

static int do_write(void)
{
	return result(open("in/new", O_WRONLY | O_CREAT, 0600));
}

static int do_write_old(void)
{
	return result(open("in/old", O_RDWR));
}

static int do_write_beside(void)
{
	return result(open("beside/victim", O_WRONLY));
}

static int do_truncate_beside(void)
{
	return result(open("beside/victim", O_RDONLY | O_TRUNC));
}

static int do_make_beside(void)
{
	return result(open("beside/x", O_WRONLY | O_CREAT, 0600));
}

static int do_tmpfile_beside(void)
{
	return result(open("beside", O_WRONLY | O_TMPFILE, 0600));
}

static int do_remove_beside(void)
{
	return result(unlink("beside/victim"));
}

static int do_rename_beside(void)
{
	return result(rename("in/old", "beside/victim"));
}

static int do_link_beside(void)
{
	return result(linkat(AT_FDCWD, "in/old", AT_FDCWD, "beside/x", 0));
}

static int do_memory(void)
{
	return result(open("/proc/self/mem", O_RDWR));
}

static const struct {
	int (*call)(void);
	int reader, writer; /* errno; 0: it works */
} refused[] = {
	{do_chown, EPERM, EPERM},
	{do_chmod, EPERM, EPERM},
	{do_symlink, EPERM, EPERM},
	{do_kill, EPERM, EPERM},
	{do_tiocsti, EPERM, EPERM},
	{do_executable, EPERM, EPERM},
	{do_make_executable, EPERM, EPERM},
	{do_namespace, EPERM, EPERM},
	{do_clone3, ENOSYS, ENOSYS},
	{do_prctl, EPERM, EPERM},
	{do_write, EPERM, 0},
	{do_write_old, EPERM, 0},
	{do_write_beside, EPERM, EACCES},
	{do_truncate_beside, EPERM, EACCES},
	{do_make_beside, EPERM, EACCES},
	{do_tmpfile_beside, EPERM, EACCES},
	{do_remove_beside, EACCES, EACCES},
	{do_rename_beside, EACCES, EACCES},
	{do_link_beside, EACCES, EACCES},
	{do_memory, EPERM, EACCES},
};

START_TEST(refuses)
{
#ifdef __SANITIZE_ADDRESS__
	if (refused[_i].call == do_prctl)
		return;
#endif
	if (refused[_i].reader != EACCES || has_landlock())
		ck_assert_int_eq(inside(&reader, refused[_i].call), refused[_i].reader);
	if (refused[_i].writer != EACCES || has_landlock())
		ck_assert_int_eq(inside(&writer, refused[_i].call), refused[_i].writer);
	/* A folder that a guest may write has the rights of a folder with an output. */
	if (refused[_i].writer != EACCES || has_landlock())
		ck_assert_int_eq(inside(&sharer, refused[_i].call), refused[_i].writer);
}
END_TEST

/* Landlock knows scopes from version 6 on. */
START_TEST(signals)
{
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1) >= 6)
		ck_assert_int_eq(inside(&reader, do_tgkill), EPERM);
}
END_TEST

/* An output as vmm/trace/outfile.c makes one: nameless, linked, renamed over the old one. */
static int make_output(void)
{
	int in = open("in", O_RDONLY | O_DIRECTORY), fd;
	char path[32];

	fd = openat(in, ".", O_TMPFILE | O_RDWR, 0600);
	if (fd < 0 || write(fd, "x", 1) != 1 || fsync(fd))
		return 1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, path, in, "named", AT_SYMLINK_FOLLOW))
		return 2;
	if (renameat(in, "named", in, "new") || fsync(in))
		return 3;
	return mkdir("in/sub", 0700) || rmdir("in/sub") || unlink("in/new") ? 4 : 0;
}

/* A child that gives back memory by a descriptor, as vmm/debug has one. */
static int make_child(void)
{
	int fd = memfd_create("x", 0), status;
	const struct rlimit r = {1 << 30, 1 << 30};
	pid_t pid = fork();

	if (fd < 0 || pid < 0)
		return 1;
	if (!pid)
		_exit(setrlimit(RLIMIT_FSIZE, &r) || write(fd, "x", 1) != 1);
	return waitpid(pid, &status, 0) != pid || status;
}

static int map_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	       MAP_FAILED;
}

START_TEST(allows)
{
	const struct sandbox_want code = {.code = true};

	ck_assert_int_eq(inside(&writer, make_output), 0);
	ck_assert_int_eq(inside(&reader, make_child), 0);
	ck_assert_int_eq(inside(&code, map_code), 0);
}
END_TEST

static int write_null(void)
{
	return result(open("/dev/null", O_WRONLY));
}

static int write_full(void)
{
	return result(open("/dev/full", O_WRONLY));
}

/* A device that is an output, and no other one. */
START_TEST(devices)
{
	const struct sandbox_want device = {.output = {"/dev/null"}};

	ck_assert_int_eq(inside(&device, write_null), 0);
	if (has_landlock())
		ck_assert_int_eq(inside(&device, write_full), EACCES);
	ck_assert_int_eq(inside(&reader, write_null), EPERM);
}
END_TEST

/* As the kernel reports it. */
static int read_status(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned int found = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		found += !strcmp(line, "NoNewPrivs:\t1\n");
		found += !strcmp(line, "Seccomp:\t2\n");
		found += !strcmp(line, "CapEff:\t0000000000000000\n");
		found += !strcmp(line, "CapPrm:\t0000000000000000\n");
		found += !strcmp(line, "CapAmb:\t0000000000000000\n");
	}
	return (int)found;
}

START_TEST(status)
{
	ck_assert_int_eq(inside(&reader, read_status), 5);
	ck_assert_int_eq(inside(&writer, read_status), 5);
}
END_TEST

/* The sandbox cannot be entered a second time, with other wishes: those calls are refused. */
static int enter_again(void)
{
	static const struct sandbox_want want = {.output = {"in/new"}};
	int error;

	(void)sandbox_enter(&want, &error);
	return error != -EPERM;
}

START_TEST(no_way_out)
{
	ck_assert_int_eq(inside(&reader, enter_again), 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("sandbox");
	TCase *tc = tcase_create("sandbox");

	tcase_add_checked_fixture(tc, make_dir, remove_dir);
	tcase_add_loop_test(tc, kills, 0, sizeof(deadly) / sizeof(deadly[0]));
	tcase_add_loop_test(tc, refuses, 0, sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(tc, signals);
	tcase_add_test(tc, allows);
	tcase_add_test(tc, devices);
	tcase_add_test(tc, status);
	tcase_add_test(tc, no_way_out);
	suite_add_tcase(s, tc);
	return s;
}
