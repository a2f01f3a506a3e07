/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * NETLINK_CRYPTO: the kernel's run-time flags of each algorithm, and changes of priority and
 * instances. Must not know which driver deserves what.
 */
#include "sys/sys.h"

#include <errno.h>
#include <linux/cryptouser.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define DUMP_BUF_SIZE   32768 /* the kernel fills at most this much at a time (netlink_dump) */
#define ANSWER_SECONDS  2
#define LOAD_TIMEOUT_MS 5000

/*
 * A string field of a message is not trusted to end. It has 64 bytes (CRYPTO_MAX_NAME in the uapi
 * header), the kernel's own names have 128: a full field stands for everything that starts like it.
 */
static bool field_equal(const char *field, size_t size, const char *s)
{
	size_t n = strnlen(field, size);

	return !strncmp(field, s, n) && (!s[n] || n >= size - 1);
}

static bool attr_u32(const char *attrs, size_t len, unsigned int type, uint32_t *v)
{
	while (len >= NLA_HDRLEN) {
		struct nlattr a;
		size_t step;

		memcpy(&a, attrs, sizeof(a));
		if (a.nla_len < NLA_HDRLEN || a.nla_len > len)
			return false;
		if (a.nla_type == type && a.nla_len >= NLA_HDRLEN + sizeof(*v)) {
			memcpy(v, attrs + NLA_HDRLEN, sizeof(*v));
			return true;
		}
		step = NLA_ALIGN(a.nla_len);
		if (step >= len)
			return false;
		attrs += step;
		len -= step;
	}
	return false;
}

/* The record that the message is about; the search goes on where the last one ended. */
static struct alg *find_from(struct alg_list *l, size_t *cursor, const struct crypto_user_alg *a)
{
	for (size_t i = 0; i < l->n; i++) {
		size_t at = (*cursor + i) % l->n;
		struct alg *g = &l->v[at];

		if (field_equal(a->cru_driver_name, sizeof(a->cru_driver_name), g->driver) &&
		    field_equal(a->cru_name, sizeof(a->cru_name), g->name)) {
			*cursor = at + 1;
			return g;
		}
	}
	return NULL;
}

static void merge_one(const char *payload, size_t len, struct alg_list *l, size_t *cursor)
{
	struct crypto_user_alg a;
	uint32_t priority;
	struct alg *g;

	memcpy(&a, payload, sizeof(a));
	g = find_from(l, cursor, &a);
	if (!g)
		return;
	g->flags_known = true;
	g->flags = a.cru_flags;
	g->refcnt = (int)a.cru_refcnt;
	if (attr_u32(payload + NLMSG_ALIGN(sizeof(a)), len - NLMSG_ALIGN(sizeof(a)),
	             CRYPTOCFGA_PRIORITY_VAL, &priority))
		g->priority = (int)priority;
}

int crypto_user_merge(const void *msg, size_t len, struct alg_list *l, size_t *cursor)
{
	const char *p = msg;

	while (len >= NLMSG_HDRLEN) {
		struct nlmsghdr h;
		struct nlmsgerr e;
		size_t body;

		memcpy(&h, p, sizeof(h));
		if (h.nlmsg_len < NLMSG_HDRLEN || h.nlmsg_len > len)
			return -EBADMSG;
		body = h.nlmsg_len - NLMSG_HDRLEN;
		if (h.nlmsg_type == NLMSG_DONE)
			return 1;
		if (h.nlmsg_type == NLMSG_ERROR) {
			if (body < sizeof(e.error))
				return -EBADMSG;
			memcpy(&e.error, p + NLMSG_HDRLEN, sizeof(e.error));
			if (e.error)
				return e.error < 0 && e.error > -4096 ? e.error : -EBADMSG;
		} else if (h.nlmsg_type == CRYPTO_MSG_GETALG) {
			if (body < NLMSG_ALIGN(sizeof(struct crypto_user_alg)))
				return -EBADMSG;
			merge_one(p + NLMSG_HDRLEN, body, l, cursor);
		}
		if (NLMSG_ALIGN(h.nlmsg_len) >= len)
			return 0;
		p += NLMSG_ALIGN(h.nlmsg_len);
		len -= NLMSG_ALIGN(h.nlmsg_len);
	}
	return len ? -EBADMSG : 0;
}

/* --- talking to the kernel -------------------------------------------------------- */

struct request {
	struct nlmsghdr h;
	struct crypto_user_alg a;
	struct nlattr attr;
	uint32_t value;
};

/* The kernel itself asks modprobe for crypto_user here, honouring deny lists. */
static int crypto_socket(void)
{
	struct timeval limit = { .tv_sec = ANSWER_SECONDS };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_CRYPTO);

	if (fd < 0)
		return errno == EAFNOSUPPORT ? -EPROTONOSUPPORT : -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return fd;
}

static int send_request(int fd, const struct request *rq)
{
	ssize_t n;

	do
		n = send(fd, rq, rq->h.nlmsg_len, 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static ssize_t receive(int fd, void *buf, size_t size)
{
	struct sockaddr_nl from;
	struct iovec iov = { buf, size };
	struct msghdr m = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov, .msg_iovlen = 1
	};
	ssize_t n;

	for (;;) {
		n = recvmsg(fd, &m, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (m.msg_flags & MSG_TRUNC)
			return -EMSGSIZE;
		if (!from.nl_pid) /* from the kernel, not from another process */
			return n;
	}
}

static int dump_once(struct alg_list *l)
{
	struct request rq = {
		.h = { .nlmsg_len = NLMSG_LENGTH(sizeof(rq.a)),
		       .nlmsg_type = CRYPTO_MSG_GETALG,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
	};
	cleanup_close int fd = crypto_socket();
	cleanup_free char *buf = NULL;
	size_t cursor = 0;
	ssize_t n;
	int err;

	if (fd < 0)
		return fd;
	err = send_request(fd, &rq);
	if (err)
		return err;
	buf = xreallocarray(NULL, DUMP_BUF_SIZE, 1);
	do {
		n = receive(fd, buf, DUMP_BUF_SIZE);
		err = n < 0 ? (int)n : crypto_user_merge(buf, (size_t)n, l, &cursor);
	} while (!err);
	return err < 0 ? err : 0;
}

int crypto_user_dump(struct alg_list *l, bool may_load)
{
	int err = dump_once(l);

	if (err != -EPROTONOSUPPORT || !may_load)
		return err;
	if (module_load("crypto_user", 0, LOAD_TIMEOUT_MS, NULL))
		return err;
	return dump_once(l);
}

/* Sends and takes the acknowledgement. */
static int transact(struct request *rq)
{
	cleanup_close int fd = crypto_socket();
	struct alg_list none = { 0 };
	char buf[1024];
	size_t cursor = 0;
	ssize_t n;
	int err;

	if (fd < 0)
		return fd;
	rq->h.nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	err = send_request(fd, rq);
	if (err)
		return err;
	n = receive(fd, buf, sizeof(buf));
	return n < 0 ? (int)n : crypto_user_merge(buf, (size_t)n, &none, &cursor);
}

static int request_init(struct request *rq, unsigned int type, const char *name, const char *driver)
{
	*rq = (struct request){ .h = { .nlmsg_len = NLMSG_LENGTH(sizeof(rq->a)),
		                       .nlmsg_type = (uint16_t)type } };
	if (!*driver || !str_copy(rq->a.cru_driver_name, sizeof(rq->a.cru_driver_name), driver) ||
	    !str_copy(rq->a.cru_name, sizeof(rq->a.cru_name), name))
		return -EINVAL;
	return 0;
}

int crypto_user_set_priority(const char *driver, int priority)
{
	struct request rq;
	int err = request_init(&rq, CRYPTO_MSG_UPDATEALG, "", driver);

	if (err)
		return err;
	rq.attr.nla_type = CRYPTOCFGA_PRIORITY_VAL;
	rq.attr.nla_len = NLA_HDRLEN + sizeof(rq.value);
	rq.value = (uint32_t)priority;
	rq.h.nlmsg_len = sizeof(rq);
	return transact(&rq);
}

int crypto_user_delete(const char *driver)
{
	struct request rq;
	int err = request_init(&rq, CRYPTO_MSG_DELALG, "", driver);

	return err ? err : transact(&rq);
}

int crypto_user_instantiate(const char *name, const char *driver)
{
	struct request rq;
	int err = request_init(&rq, CRYPTO_MSG_NEWALG, name, driver);

	rq.h.nlmsg_flags |= NLM_F_CREATE;
	if (!err)
		err = transact(&rq);
	return err == -EEXIST ? 0 : err;
}

/* --- recorded --------------------------------------------------------------------- */

/* The record at the cursor when the text has the list's order, else every record of the driver. */
static size_t fill_flags(struct alg_list *l, size_t *cursor, const char *driver, uint32_t flags)
{
	bool next = *cursor < l->n && !strcmp(l->v[*cursor].driver, driver);
	size_t from = next ? *cursor : 0, to = next ? *cursor + 1 : l->n, filled = 0;

	for (size_t i = from; i < to; i++) {
		if (strcmp(l->v[i].driver, driver))
			continue;
		l->v[i].flags = flags;
		l->v[i].flags_known = true;
		*cursor = i + 1;
		filled++;
	}
	return filled;
}

size_t crypto_flags_parse(const char *text, size_t len, struct alg_list *l)
{
	const char *end = text + len;
	size_t filled = 0, cursor = 0;

	while (text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		char line[ALG_NAME_MAX + 24], *sep, *tail;
		size_t n = (size_t)((eol ? eol : end) - text);
		unsigned long flags;

		snprintf(line, sizeof(line), "%.*s", n < sizeof(line) ? (int)n : 0, text);
		text += n + 1;
		sep = strrchr(line, ' ');
		if (!sep || line[0] == '#')
			continue;
		*sep = '\0';
		flags = strtoul(sep + 1, &tail, 16);
		if (tail != sep + 1 && !*tail)
			filled += fill_flags(l, &cursor, line, (uint32_t)flags);
	}
	return filled;
}
