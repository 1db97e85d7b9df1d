/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network behind one network card: libslirp makes connections of the host's user out of the
 * guest's frames. The guest is 10.0.2.15 by DHCP, the host 10.0.2.2, and its name server 10.0.2.3.
 */
#ifndef VMM_NET_NET_H
#define VMM_NET_NET_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NET_FORWARDS  8u
#define NET_FRAME_MAX 1514u

/* A port of the host whose connections go to the guest. */
struct net_forward {
	bool udp;
	char address[16]; /* of the host, in dots */
	uint16_t host, guest;
};

struct net_options {
	bool restricted; /* the guest reaches only its forwards, and nobody outside */
	unsigned int forwards;
	struct net_forward forward[NET_FORWARDS];
};

struct net;

/*
 * Create a network, before the sandbox. Returns 0, or -errno. *failed is the index of the forward
 * that failed, or NET_FORWARDS.
 */
int net_create(struct net **net, const struct net_options *options, unsigned int *failed);
void net_destroy(struct net *net);

/* Send a frame of the guest. */
void net_send(struct net *net, const uint8_t *frame, size_t bytes);
/*
 * Copy the next frame for the guest, at most @room bytes, and remove it. Returns its size, or 0 if
 * there is none. If @to is NULL, the frame stays.
 */
size_t net_receive(struct net *net, uint8_t *to, size_t room);
/*
 * Wait up to @ns for the network or for one of the @count other descriptors, whose revents are set.
 * Then handle what has arrived.
 */
void net_wait(struct net *net, uint64_t ns, struct pollfd *others, unsigned int count);

/*
 * Copy the descriptors that net_wait() would wait for, at most @room. Returns their number. *ms is
 * the longest wait in ms, or -1 if there is no limit.
 */
unsigned int net_sources(struct net *net, struct pollfd *to, unsigned int room, int *ms);

#endif /* VMM_NET_NET_H */
