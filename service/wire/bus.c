/* ZeroMQ sockets as the project uses them. What each option guards against stands beside it; the numbers are from
 * measurements on libzmq 4.3.4.
 */
#include "service/wire/bus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zmq.h>

struct bus {
    void *context;
};

struct sock {
    void *handle;
    char address[256];
};

enum {
    HIGH_WATER = 64,     /* messages queued per peer: a slow reader costs megabytes, not gigabytes */
    HANDSHAKE_MS = 3000, /* silent connections are closed after this */
    PROBE_MS = 5000,
    PROBE_TIMEOUT_MS = 15000,
    PROBE_TTL_MS = 60000, /* more than 65 535 overflows (libzmq 4226) */
};

struct bus *bus_new(struct err *e)
{
    int major, minor, patch;
    zmq_version(&major, &minor, &patch);
    if (major * 10000 + minor * 100 + patch < 40304) {
        fail(e, E_IO, "libzmq %d.%d.%d is too old: 4.3.4 is the first safe one", major, minor, patch);
        return NULL;
    }
    struct bus *b = array(1, sizeof *b);
    if (b && !(b->context = zmq_ctx_new())) {
        free(b);
        b = NULL;
    }
    if (!b)
        fail(e, E_MEMORY, "out of memory for a ZeroMQ context");
    return b;
}

void bus_free(struct bus *b)
{
    if (!b)
        return;
    while (zmq_ctx_term(b->context) < 0 && errno == EINTR)
        ;
    free(b);
}

static int set(struct sock *s, int option, int value)
{
    return zmq_setsockopt(s->handle, option, &value, sizeof value);
}

static int set_options(struct sock *s, enum sock_kind kind, const struct sock_limits *limits)
{
    int rc = zmq_setsockopt(s->handle, ZMQ_MAXMSGSIZE, &limits->frame, sizeof limits->frame);
    rc |= set(s, ZMQ_SNDHWM, HIGH_WATER);
    rc |= set(s, ZMQ_LINGER, limits->linger);
    rc |= set(s, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS);
    rc |= set(s, ZMQ_TCP_KEEPALIVE, 1);
    if (kind == SOCK_ROUTER)
        rc |= set(s, ZMQ_ROUTER_MANDATORY, 1); /* else messages to the departed vanish without a word (2037) */
    if (limits->heartbeat) {
        rc |= set(s, ZMQ_HEARTBEAT_IVL, PROBE_MS);
        rc |= set(s, ZMQ_HEARTBEAT_TIMEOUT, PROBE_TIMEOUT_MS);
        rc |= set(s, ZMQ_HEARTBEAT_TTL, PROBE_TTL_MS);
    }
    return rc;
}

static struct sock *sock_open(struct bus *b, enum sock_kind kind, const char *address, const struct sock_limits *limits,
                              struct err *e)
{
    const char *verb = kind == SOCK_ROUTER ? "bind" : "connect";
    struct sock *s = array(1, sizeof *s);
    size_t n = sizeof s->address;
    if (!s) {
        fail(e, E_MEMORY, "out of memory for a socket");
        return NULL;
    }
    s->handle = zmq_socket(b->context, kind == SOCK_ROUTER ? ZMQ_ROUTER : ZMQ_DEALER);
    if (!s->handle) {
        fail(e, E_IO, "no socket for %s: %s", address, zmq_strerror(errno));
        free(s);
        return NULL;
    }
    int rc = set_options(s, kind, limits);
    if (rc == 0)
        rc = kind == SOCK_ROUTER ? zmq_bind(s->handle, address) : zmq_connect(s->handle, address);
    if (rc == 0)
        rc = zmq_getsockopt(s->handle, ZMQ_LAST_ENDPOINT, s->address, &n);
    if (rc != 0) {
        fail(e, E_IO, "cannot %s %s: %s", verb, address, zmq_strerror(errno));
        sock_close(s);
        return NULL;
    }
    return s;
}

struct sock *sock_bind(struct bus *b, const char *address, const struct sock_limits *limits, struct err *e)
{
    return sock_open(b, SOCK_ROUTER, address, limits, e);
}

struct sock *sock_connect(struct bus *b, const char *address, const struct sock_limits *limits, struct err *e)
{
    return sock_open(b, SOCK_DEALER, address, limits, e);
}

void sock_close(struct sock *s)
{
    if (s) {
        zmq_close(s->handle);
        free(s);
    }
}

const char *sock_address(const struct sock *s)
{
    return s->address;
}

/* Frames of one message are delivered together, so that after the first one none has to be waited for. */
static int receive_frame(struct sock *s, zmq_msg_t *frame)
{
    int rc;
    do
        rc = zmq_msg_recv(frame, s->handle, ZMQ_DONTWAIT);
    while (rc < 0 && errno == EINTR);
    return rc;
}

int sock_receive(struct sock *s, struct parcel *p, struct err *e)
{
    *p = (struct parcel){ 0 };
    zmq_msg_t frame;
    zmq_msg_init(&frame);
    if (receive_frame(s, &frame) < 0) {
        zmq_msg_close(&frame);
        return errno == EAGAIN ? 0 : fail(e, E_IO, "cannot receive on %s: %s", s->address, zmq_strerror(errno));
    }
    zmq_msg_t *store = array(BUS_FRAMES, sizeof *store);
    int n = 0, more, rc = 0;
    do { /* the message is taken off to its end, also when it cannot be kept: half-read ones abort libzmq (1141) */
        more = zmq_msg_more(&frame);
        if (store && n < BUS_FRAMES) {
            zmq_msg_init(&store[n]);
            zmq_msg_move(&store[n], &frame);
        }
        n++;
        if (more)
            rc = receive_frame(s, &frame);
    } while (more && rc >= 0);
    zmq_msg_close(&frame);
    p->store = store;
    p->nframe = n < BUS_FRAMES ? n : BUS_FRAMES;
    for (int i = 0; store && i < p->nframe; i++)
        p->frame[i] = (struct span){ zmq_msg_data(&store[i]), (int64_t)zmq_msg_size(&store[i]) };
    if (!store)
        return fail(e, E_MEMORY, "out of memory for a message");
    if (rc < 0 || n > BUS_FRAMES)
        parcel_free(p);
    return rc < 0 ? fail(e, E_IO, "cannot receive on %s: %s", s->address, zmq_strerror(errno)) : 1;
}

void parcel_free(struct parcel *p)
{
    zmq_msg_t *store = p->store;
    for (int i = 0; store && i < p->nframe; i++)
        zmq_msg_close(&store[i]);
    free(store);
    *p = (struct parcel){ 0 };
}

static int send_frame(struct sock *s, zmq_msg_t *frame, int more)
{
    int rc;
    do
        rc = zmq_msg_send(frame, s->handle, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0));
    while (rc < 0 && errno == EINTR);
    return rc;
}

/* Room for all frames is taken first: once the first one is out, the last one must follow. They are filled only then,
 * so that trying a peer who has no room costs no copy. */
int sock_send(struct sock *s, const struct span *frame, int nframe, struct err *e)
{
    zmq_msg_t part[BUS_FRAMES];
    int n = 0, sent = 0, rc = 0;
    if (nframe < 1 || nframe > BUS_FRAMES)
        return fail(e, E_INTERNAL, "a message of %d frames", nframe);
    while (n < nframe && zmq_msg_init_size(&part[n], (size_t)frame[n].n) == 0)
        n++;
    if (n < nframe)
        fail(e, E_MEMORY, "out of memory for a message of %lld bytes", (long long)frame[n].n);
    for (; n == nframe && rc >= 0 && sent < n; sent += rc >= 0) {
        if (frame[sent].n > 0)
            memcpy(zmq_msg_data(&part[sent]), frame[sent].data, (size_t)frame[sent].n);
        rc = send_frame(s, &part[sent], sent + 1 < n);
    }
    int why = errno;
    for (int i = sent; i < n; i++)
        zmq_msg_close(&part[i]);
    if (sent == nframe)
        return 1;
    if (n < nframe)
        return -1;
    if (why == EAGAIN && sent == 0)
        return 0;
    return fail(e, why == EHOSTUNREACH ? E_COMM : E_IO, "cannot send on %s: %s", s->address, zmq_strerror(why));
}

int bus_poll(struct watch *w, int n, int milliseconds, struct err *e)
{
    zmq_pollitem_t item[16];
    if (n > (int)(sizeof item / sizeof *item))
        return fail(e, E_INTERNAL, "%d sockets to wait for", n);
    for (int i = 0; i < n; i++)
        item[i] =
            (zmq_pollitem_t){ .socket = w[i].sock ? w[i].sock->handle : NULL, .fd = w[i].fd, .events = ZMQ_POLLIN };
    int rc = zmq_poll(item, n, milliseconds);
    for (int i = 0; i < n; i++)
        w[i].ready = rc > 0 && (item[i].revents & (ZMQ_POLLIN | ZMQ_POLLERR));
    if (rc < 0 && errno != EINTR)
        return fail(e, E_IO, "cannot wait for messages: %s", zmq_strerror(errno));
    return rc > 0 ? rc : 0;
}
