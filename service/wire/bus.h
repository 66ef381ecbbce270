/* Messages of several frames between processes; the only file that sees zmq.h. A ROUTER serves many peers and names
 * each by the first frame; a DEALER talks to one ROUTER. Nothing here blocks but bus_poll: a send that finds no room
 * says so. One thread only.
 */
#ifndef HEDDLE_BUS_H
#define HEDDLE_BUS_H

#include "solver/model/base.h"

enum { BUS_FRAMES = 19 }; /* routing id, header, 17 bodies */

struct bus;  /* the context that all sockets of a process share */
struct sock; /* one socket */

struct span {
    const void *data;
    int64_t n;
};

/* Refuses a libzmq older than 4.3.4 (CVE-2019-6250 and the heartbeat fixes). */
struct bus *bus_new(struct err *e);
void bus_free(struct bus *b); /* after its sockets; NULL is fine */

enum sock_kind { SOCK_ROUTER, SOCK_DEALER };

struct sock_limits {
    int64_t frame; /* bytes of a received frame; a peer that sends more is cut off. -1: no limit */
    int linger;    /* milliseconds that sock_close may wait for what is still to be sent */
    int heartbeat; /* 1: probe silent peers every 5 s (tcp); 0: not */
};

/* ROUTER binds, DEALER connects. E_IO with the address when that cannot be. */
struct sock *sock_bind(struct bus *b, const char *address, const struct sock_limits *limits, struct err *e);
struct sock *sock_connect(struct bus *b, const char *address, const struct sock_limits *limits, struct err *e);
void sock_close(struct sock *s); /* NULL is fine */

/* The address bound to, with the port that "tcp://127.0.0.1:*" was given. Lives as long as s. */
const char *sock_address(const struct sock *s);

struct parcel {
    int nframe; /* 0: it had more than BUS_FRAMES frames and was dropped */
    struct span frame[BUS_FRAMES];
    void *store; /* what the frames point into */
};

/* 1: *p holds a message (parcel_free it); 0: none is waiting; -1: E_IO or E_MEMORY. */
int sock_receive(struct sock *s, struct parcel *p, struct err *e);
void parcel_free(struct parcel *p); /* p is then empty; also of an empty one */

/* 1: handed over; 0: no room now, try again later; -1: E_COMM, the peer is gone (ROUTER), or E_IO, E_MEMORY. All frames
 * or none. */
int sock_send(struct sock *s, const struct span *frame, int nframe, struct err *e);

struct watch {
    struct sock *sock; /* or NULL and */
    int fd;            /* a file descriptor */
    int ready;         /* out: something can be read */
};

/* Waits until one of w[n] can be read, or for so many milliseconds (-1: for ever). Returns how many are ready; a signal
 * ends the wait with 0. */
int bus_poll(struct watch *w, int n, int milliseconds, struct err *e);

#endif
