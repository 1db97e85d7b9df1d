// SPDX-License-Identifier: GPL-2.0-or-later
/* Frames between a network card and libslirp. */
#include "net/net.h"

#include <errno.h>
#include <limits.h>
#include <slirp/libslirp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A frame that the guest does not take in time is dropped, as by any network. */
#define FRAMES 512u
#define FDS    256u

struct frame {
	uint16_t bytes;
	uint8_t byte[NET_FRAME_MAX];
};

struct net {
	Slirp *slirp;
	struct pollfd fd[FDS];
	unsigned int fds;
	unsigned int first, count; /* of @frame, a ring */
	struct frame frame[FRAMES];
};

static ssize_t to_guest(const void *bytes, size_t count, void *opaque)
{
	struct net *net = opaque;
	struct frame *frame = &net->frame[(net->first + net->count) % FRAMES];

	if (net->count == FRAMES || !count || count > sizeof(frame->byte))
		return (ssize_t)count;
	frame->bytes = (uint16_t)count;
	memcpy(frame->byte, bytes, count);
	net->count++;
	return (ssize_t)count;
}

/* Wrong frames are the guest's affair, and are dropped. */
static void guest_error(const char *text, void *opaque)
{
	(void)text;
	(void)opaque;
}

static int64_t now_ns(void *opaque)
{
	struct timespec now;

	(void)opaque;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Only IPv6 has timers, and it is off. */
static void *timer_new(SlirpTimerCb fn, void *of, void *opaque)
{
	(void)fn;
	(void)of;
	return opaque;
}

static void timer_free(void *timer, void *opaque)
{
	(void)timer;
	(void)opaque;
}

static void timer_mod(void *timer, int64_t ms, void *opaque)
{
	(void)timer;
	(void)ms;
	(void)opaque;
}

static void poll_fd(int fd, void *opaque)
{
	(void)fd;
	(void)opaque;
}

static void notify(void *opaque)
{
	(void)opaque;
}

static const SlirpCb callbacks = {
	.send_packet = to_guest,
	.guest_error = guest_error,
	.clock_get_ns = now_ns,
	.timer_new = timer_new,
	.timer_free = timer_free,
	.timer_mod = timer_mod,
	.register_poll_fd = poll_fd,
	.unregister_poll_fd = poll_fd,
	.notify = notify,
};

static struct in_addr address(const char *text)
{
	struct in_addr at = {0};

	(void)inet_pton(AF_INET, text, &at);
	return at;
}

static int forward(struct net *net, const struct net_forward *f)
{
	const struct in_addr host = address(f->address), guest = address("10.0.2.15");

	errno = 0;
	if (!slirp_add_hostfwd(net->slirp, f->udp, host, f->host, guest, f->guest))
		return 0;
	return errno ? -errno : -EINVAL;
}

int net_create(struct net **out, const struct net_options *options, unsigned int *failed)
{
	const SlirpConfig config = {
		.version = 1,
		.restricted = options->restricted,
		.in_enabled = true,
		.vnetwork = address("10.0.2.0"),
		.vnetmask = address("255.255.255.0"),
		.vhost = address("10.0.2.2"),
		.vdhcp_start = address("10.0.2.15"),
		.vnameserver = address("10.0.2.3"),
	};
	struct net *net = calloc(1, sizeof(*net));
	int err = 0;

	*failed = NET_FORWARDS;
	if (net)
		net->slirp = slirp_new(&config, &callbacks, net);
	if (!net || !net->slirp) {
		free(net);
		return -ENOMEM;
	}
	for (*failed = 0; *failed < options->forwards; ++*failed) {
		err = forward(net, &options->forward[*failed]);
		if (err)
			break;
	}
	if (!err) {
		*out = net;
		return 0;
	}
	net_destroy(net);
	return err;
}

void net_destroy(struct net *net)
{
	if (!net)
		return;
	slirp_cleanup(net->slirp);
	free(net);
}

void net_send(struct net *net, const uint8_t *frame, size_t bytes)
{
	if (bytes <= NET_FRAME_MAX)
		slirp_input(net->slirp, frame, (int)bytes);
}

size_t net_receive(struct net *net, uint8_t *to, size_t room)
{
	const struct frame *frame = &net->frame[net->first];

	if (!net->count || (to && frame->bytes > room))
		return 0;
	if (!to)
		return frame->bytes;
	memcpy(to, frame->byte, frame->bytes);
	net->first = (net->first + 1) % FRAMES;
	net->count--;
	return frame->bytes;
}

static const struct {
	int slirp;
	short poll;
} events[] = {
	{SLIRP_POLL_IN, POLLIN},   {SLIRP_POLL_OUT, POLLOUT}, {SLIRP_POLL_PRI, POLLPRI},
	{SLIRP_POLL_ERR, POLLERR}, {SLIRP_POLL_HUP, POLLHUP},
};

#define EVENTS (sizeof(events) / sizeof(events[0]))

static int add_poll(int fd, int wanted, void *opaque)
{
	struct net *net = opaque;
	struct pollfd *p = &net->fd[net->fds];
	size_t i;

	if (net->fds == FDS)
		return -1;
	*p = (struct pollfd){.fd = fd};
	for (i = 0; i < EVENTS; i++)
		if (wanted & events[i].slirp)
			p->events |= events[i].poll;
	return (int)net->fds++;
}

static int get_events(int index, void *opaque)
{
	const struct net *net = opaque;
	int got = 0;
	size_t i;

	for (i = 0; index >= 0 && i < EVENTS; i++)
		if (net->fd[index].revents & events[i].poll)
			got |= events[i].slirp;
	return got;
}

void net_wait(struct net *net, uint64_t ns, struct pollfd *others, unsigned int count)
{
	uint32_t ms = (uint32_t)(ns / 1000000);
	const uint32_t asked = ms;
	struct timespec most = {.tv_nsec = (long)(ns % 1000000)};
	unsigned int i, own;
	int n;

	net->fds = 0;
	slirp_pollfds_fill(net->slirp, &ms, add_poll, net);
	own = net->fds;
	for (i = 0; i < count && net->fds < FDS; i++)
		net->fd[net->fds++] = others[i];
	if (ms < asked)
		most.tv_nsec = 0;
	most.tv_sec = ms / 1000;
	most.tv_nsec += (long)(ms % 1000) * 1000000;
	n = ppoll(net->fd, net->fds, &most, NULL);
	for (i = own; i < net->fds; i++)
		others[i - own].revents = n > 0 ? net->fd[i].revents : 0;
	slirp_pollfds_poll(net->slirp, n < 0, get_events, net);
}

unsigned int net_sources(struct net *net, struct pollfd *to, unsigned int room, int *ms)
{
	uint32_t most = INT_MAX;

	net->fds = 0;
	slirp_pollfds_fill(net->slirp, &most, add_poll, net);
	*ms = most < INT_MAX ? (int)most : -1;
	if (room > net->fds)
		room = net->fds;
	memcpy(to, net->fd, room * sizeof(*to));
	return room;
}
