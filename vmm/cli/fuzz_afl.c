// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vpt fuzz-server: the fork server that afl-fuzz speaks to. Each execution of an input stands for a
 * child process of the protocol. Its pid is that of a victim, a process that only waits, because
 * afl-fuzz kills the child of an execution that takes too long.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fuzz.h"

/* The descriptors of the protocol: the server reads requests from one, and answers on the other. */
#define REQUESTS 198
#define ANSWERS	 199

/* The server's first word: options, and the size of the map. */
#define HELLO_ENABLED	0x80000001u
#define HELLO_MAP_SIZE	0x40000000u
#define HELLO_SHM_INPUT 0x01000000u
#define HELLO_MAP	((DECODE_EDGES_MAP - 1) << 1)

/* The most bytes of an input that afl-fuzz makes. */
#define INPUT_MAX (1u << 20)

struct input {
	uint32_t len;
	uint8_t bytes[];
};

struct cli_fuzz_afl {
	uint8_t *map;
	const struct input *shared; /* NULL: the input is standard input */
	int victims;		    /* each new victim's pid, after the one before has died */
	int life;		    /* closed at the end of this process, which ends theirs */
	int32_t victim;
	bool died; /* the victim died during this execution, and `victim` is another */
	uint8_t own[INPUT_MAX];
};

bool cli_fuzz_afl_asks(void)
{
	return fcntl(REQUESTS, F_GETFD) != -1 && fcntl(ANSWERS, F_GETFD) != -1;
}

/* Wait for the end of the server, which never writes to its pipe. */
static _Noreturn void wait_for_end(int life)
{
	char byte;

	while (read(life, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

/*
 * Make victims, one after the other. All of them end with the server, which is in a sandbox and
 * cannot signal them, not even by PR_SET_PDEATHSIG.
 */
static _Noreturn void make_victims(int to, int life)
{
	int fd;

	/* afl-fuzz waits for the end of its server by the server's descriptors. */
	for (fd = 0; fd <= ANSWERS; fd++)
		if (fd != to && fd != life)
			close(fd);
	for (;;) {
		const pid_t pid = fork();
		const int32_t word = (int32_t)pid;

		if (!pid)
			wait_for_end(life);
		if (pid < 0 || write(to, &word, sizeof(word)) != sizeof(word))
			_exit(1);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
}

static bool next_victim(struct cli_fuzz_afl *afl)
{
	ssize_t n;

	do
		n = read(afl->victims, &afl->victim, sizeof(afl->victim));
	while (n < 0 && errno == EINTR);
	return n == sizeof(afl->victim);
}

static int start_victims(struct cli_fuzz_afl *afl)
{
	int words[2] = {-1, -1}, life[2] = {-1, -1};
	pid_t pid;

	if (pipe2(words, O_CLOEXEC) || pipe2(life, O_CLOEXEC))
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: pipe: %s", cli_reason(errno));
	afl->victims = words[0];
	afl->life = life[1];
	pid = fork();
	if (!pid)
		make_victims(words[1], life[0]);
	close(words[1]);
	close(life[0]);
	if (pid < 0 || !next_victim(afl))
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: cannot start a process: %s",
				cli_reason(errno));
	return CLI_EXIT_OK;
}

/* Attach the shared memory whose identifier a variable has. Returns an exit status. */
static int attach(const char *variable, int flags, size_t least, void **at)
{
	const char *text = getenv(variable);
	struct shmid_ds info;
	uint64_t id;

	if (!text || !cli_is_number(text, &id) || id > INT32_MAX)
		return cli_fail(CLI_EXIT_USAGE,
				"fuzz-server: %s: there is no shared memory of a fuzzer", variable);
	*at = shmat((int)id, NULL, flags);
	if (*at == (void *)-1 || shmctl((int)id, IPC_STAT, &info))
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: %s=%s: %s", variable, text,
				cli_reason(errno));
	if (info.shm_segsz < least)
		return cli_fail(CLI_EXIT_USAGE, "fuzz-server: %s=%s: it has less than %zu bytes",
				variable, text, least);
	return CLI_EXIT_OK;
}

int cli_fuzz_afl_open(struct cli_fuzz_afl **out)
{
	struct cli_fuzz_afl *afl = calloc(1, sizeof(*afl));
	void *at = NULL;
	int status;

	if (!afl)
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: no memory");
	*out = afl;
	afl->victims = afl->life = -1;
	status = attach("__AFL_SHM_ID", 0, DECODE_EDGES_MAP, &at);
	afl->map = at;
	if (!status && getenv("__AFL_SHM_FUZZ_ID")) {
		status = attach("__AFL_SHM_FUZZ_ID", SHM_RDONLY, INPUT_MAX, &at);
		afl->shared = at;
	}
	return status ? status : start_victims(afl);
}

void cli_fuzz_afl_close(struct cli_fuzz_afl *afl)
{
	if (!afl)
		return;
	if (afl->victims >= 0)
		close(afl->victims);
	if (afl->life >= 0)
		close(afl->life);
	free(afl);
}

static bool get_word(uint32_t *word)
{
	ssize_t n;

	do
		n = read(REQUESTS, word, sizeof(*word));
	while (n < 0 && errno == EINTR);
	return n == sizeof(*word);
}

static bool put_word(uint32_t word)
{
	return write(ANSWERS, &word, sizeof(word)) == sizeof(word);
}

/* The fuzzer has killed the victim if another one exists. */
static bool killed(void *opaque)
{
	struct cli_fuzz_afl *afl = opaque;
	struct pollfd fd = {.fd = afl->victims, .events = POLLIN};

	if (!afl->died && poll(&fd, 1, 0) > 0)
		afl->died = next_victim(afl);
	return afl->died;
}

/* The fuzzer writes to the memory at any time, so read the length once. */
static size_t take_shared(struct cli_fuzz_afl *afl)
{
	const uint32_t len = *(const volatile uint32_t *)&afl->shared->len;
	const size_t used = len < INPUT_MAX - sizeof(len) ? len : INPUT_MAX - (uint32_t)sizeof(len);

	memcpy(afl->own, afl->shared->bytes, used);
	return used;
}

static size_t take_stdin(struct cli_fuzz_afl *afl)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = pread(STDIN_FILENO, afl->own + len, sizeof(afl->own) - len, (off_t)len);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0 && len < sizeof(afl->own));
	return len;
}

/* Return the status of waitpid() for a child that ended in this way. */
static uint32_t status_of(struct cli_fuzz_afl *afl, enum cli_fuzz_end end)
{
	switch (end) {
	case CLI_FUZZ_DONE:
		return 0;
	case CLI_FUZZ_CRASH:
		return SIGSEGV;
	default:
		/* A process that hangs does so until it is killed. */
		if (!afl->died)
			(void)next_victim(afl);
		afl->died = true;
		return SIGKILL;
	}
}

static bool serve_one(struct cli_fuzz_afl *afl, struct cli_fuzz *f, struct cli_fuzz_result *result)
{
	const size_t len = afl->shared ? take_shared(afl) : take_stdin(afl);

	cli_fuzz_run(f, afl->own, len, afl->map, result);
	return result->end != CLI_FUZZ_BROKEN && put_word(status_of(afl, result->end));
}

int cli_fuzz_afl_serve(struct cli_fuzz_afl *afl, struct cli_fuzz *f)
{
	uint32_t word =
		HELLO_ENABLED | HELLO_MAP_SIZE | HELLO_MAP | (afl->shared ? HELLO_SHM_INPUT : 0u);
	struct cli_fuzz_result result = {.end = CLI_FUZZ_DONE};

	f->killed = killed;
	f->opaque = afl;
	if (!put_word(word) || (afl->shared && !get_word(&word)))
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: the fuzzer does not answer");
	/* The word is not 0 if the fuzzer has killed the child before. */
	while (get_word(&word)) {
		if (word && !afl->died && !next_victim(afl))
			break;
		afl->died = false;
		if (!put_word((uint32_t)afl->victim) || !serve_one(afl, f, &result))
			break;
	}
	if (result.end == CLI_FUZZ_BROKEN)
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: %s", result.text);
	return CLI_EXIT_OK;
}
