// SPDX-License-Identifier: GPL-2.0-or-later
/* The option --net: a network card behind the host's user. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/run.h"
#include "core/irq.h"
#include "net/net.h"
#include "virtio/virtio.h"

#define FORWARD "hostfwd="
/* The shortest time between two looks at the network while the guest runs. */
#define LOOK_NS 100000u

_Static_assert(NET_FRAME_MAX == VIRTIO_FRAME_MAX, "the card passes on each frame");

/* Read a port up to @end. Returns what follows, or NULL. */
static const char *take_port(const char *text, char end, uint16_t *port)
{
	uint64_t number;
	const char *behind = cli_read_number(text, &number);

	if (!behind || *behind != end || !number || number > UINT16_MAX)
		return NULL;
	*port = (uint16_t)number;
	return end ? behind + 1 : behind;
}

/* Take PROTOCOL:[ADDRESS]:PORT-:PORT. Returns false if it is none. */
static bool take_forward(struct net_forward *f, const char *text)
{
	const char *colon = strchr(text, ':');
	struct in_addr at;

	f->udp = !strncmp(text, "udp:", 4);
	if (!colon || (!f->udp && strncmp(text, "tcp:", 4) != 0))
		return false;
	text = colon + 1;
	colon = strchr(text, ':');
	if (!colon || (size_t)(colon - text) >= sizeof(f->address))
		return false;
	snprintf(f->address, sizeof(f->address), "%.*s", (int)(colon - text), text);
	if (colon == text)
		snprintf(f->address, sizeof(f->address), "127.0.0.1");
	text = take_port(colon + 1, '-', &f->host);
	return inet_pton(AF_INET, f->address, &at) == 1 && text && *text == ':' &&
	       take_port(text + 1, 0, &f->guest);
}

static bool take_word(struct net_options *net, const char *word)
{
	if (!strcmp(word, "restrict")) {
		net->restricted = true;
		return true;
	}
	return !strncmp(word, FORWARD, strlen(FORWARD)) && net->forwards < NET_FORWARDS &&
	       take_forward(&net->forward[net->forwards++], word + strlen(FORWARD));
}

int cli_run_take_net(const struct cli_given *g)
{
	struct cli_run_net *net = g->field;
	const char *at = strchrnul(g->value, ',');
	char word[80];

	*net = (struct cli_run_net){.given = true};
	if (at - g->value != 4 || strncmp(g->value, "user", 4) != 0)
		return cli_option_wrong(g, "not user, the only kind of network");
	while (*at) {
		const size_t n = strcspn(++at, ",");

		if (n >= sizeof(word))
			return cli_option_wrong(g, "a word is too long");
		memcpy(word, at, n);
		word[n] = 0;
		if (!take_word(&net->options, word))
			return cli_option_wrong(g,
						"'%s' is not restrict, nor one of at most %u "
						"hostfwd=tcp:[ADDRESS]:PORT-:PORT (or udp)",
						word, NET_FORWARDS);
		at += n;
	}
	return CLI_EXIT_OK;
}

int cli_run_net_open(struct cli_run_machine *m)
{
	const struct net_options *o = &m->o.net.options;
	unsigned int failed;
	int err;

	/* A replay takes the frames from its recording. */
	if (!m->o.net.given || m->o.replay)
		return CLI_EXIT_OK;
	err = net_create(&m->net, o, &failed);
	if (!err)
		return CLI_EXIT_OK;
	if (failed < o->forwards)
		return cli_fail(CLI_EXIT_HOST, "%s: --net: %s port %u: %s", m->o.verb,
				o->forward[failed].address, o->forward[failed].host,
				cli_reason(-err));
	return cli_fail(CLI_EXIT_HOST, "%s: --net: %s", m->o.verb, cli_reason(-err));
}

size_t cli_run_net_frame(struct cli_run_machine *m, uint8_t *bytes, size_t room)
{
	const uint64_t now = core_now();

	if (!m->net)
		return 0;
	if (now - m->net_looked >= LOOK_NS) {
		m->net_looked = now;
		net_wait(m->net, 0, NULL, 0);
	}
	return net_receive(m->net, bytes, room);
}

void cli_run_net_wait(struct cli_run_machine *m, uint64_t ns)
{
	struct pollfd others[] = {
		{.fd = m->input.ended ? -1 : m->input.fd, .events = POLLIN},
		{.fd = m->input.other, .events = POLLIN},
	};

	net_wait(m->net, ns, others, 2);
}
