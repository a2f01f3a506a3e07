/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * For: reading and changing a guest kernel's list of algorithms by NETLINK_CRYPTO, flags decoded.
 * Must not know: hwluks; it is the second opinion that hwluks' own reading is compared with.
 *
 *   crypto_user list [SUBSTRING]
 *       algorithms whose name or driver contains SUBSTRING, one a line
 *   crypto_user priority DRIVER NAME NUMBER
 *       gives a driver another priority; instances built on it go
 *   crypto_user delete DRIVER NAME
 *       deletes a template's instance that nobody uses
 *
 * Exit: 0 done, 1 refused by the kernel or no NETLINK_CRYPTO (module crypto_user), 2 usage.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <linux/cryptouser.h>
#include <linux/netlink.h>

/* include/linux/crypto.h and include/crypto/internal of 6.1; not in the user headers */
static const struct {
	unsigned int bit;
	const char *name;
} flags[] = {
	{ 0x00000010, "larval" },
	{ 0x00000020, "dead" },
	{ 0x00000040, "dying" },
	{ 0x00000080, "async" },
	{ 0x00000100, "need-fallback" },
	{ 0x00000400, "tested" },
	{ 0x00000800, "instance" },
	{ 0x00001000, "kern-driver-only" },
	{ 0x00002000, "internal" },
	{ 0x00004000, "optional-key" },
	{ 0x00010000, "allocates-memory" },
};

static unsigned int priority_of(struct nlmsghdr *msg)
{
	struct nlattr *attr = (struct nlattr *)((struct crypto_user_alg *)NLMSG_DATA(msg) + 1);
	int left = msg->nlmsg_len - NLMSG_LENGTH(sizeof(struct crypto_user_alg));
	unsigned int priority = 0;

	while (left >= (int)sizeof(*attr) && attr->nla_len >= sizeof(*attr) &&
	       attr->nla_len <= left) {
		if (attr->nla_type == CRYPTOCFGA_PRIORITY_VAL)
			memcpy(&priority, attr + 1, sizeof(priority));
		left -= NLA_ALIGN(attr->nla_len);
		attr = (struct nlattr *)((char *)attr + NLA_ALIGN(attr->nla_len));
	}
	return priority;
}

static void print_alg(struct nlmsghdr *msg, const char *want)
{
	const struct crypto_user_alg *alg = NLMSG_DATA(msg);
	const char *sep = " (";
	size_t i;

	if (!strstr(alg->cru_name, want) && !strstr(alg->cru_driver_name, want))
		return;
	printf("%s %s module=%s priority=%u refcnt=%u flags=%#x type=%u", alg->cru_name,
	       alg->cru_driver_name, alg->cru_module_name, priority_of(msg), alg->cru_refcnt,
	       alg->cru_flags, alg->cru_flags & 0xf);
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (alg->cru_flags & flags[i].bit) {
			printf("%s%s", sep, flags[i].name);
			sep = ",";
		}
	}
	puts(*sep == ',' ? ")" : "");
}

struct request {
	struct nlmsghdr hdr;
	struct crypto_user_alg alg;
	struct nlattr attr;
	unsigned int priority;
};

static int complain(const char *what, int err)
{
	fprintf(stderr, "crypto_user: %s: %s\n", what, strerror(err));
	return 1;
}

static int list(int fd, const char *want)
{
	static char buf[65536];

	for (;;) {
		ssize_t got = recv(fd, buf, sizeof(buf), 0);
		struct nlmsghdr *msg = (struct nlmsghdr *)buf;

		if (got <= 0)
			return complain("recv", errno);
		for (; NLMSG_OK(msg, (size_t)got); msg = NLMSG_NEXT(msg, got)) {
			if (msg->nlmsg_type == NLMSG_DONE)
				return 0;
			if (msg->nlmsg_type == NLMSG_ERROR ||
			    msg->nlmsg_len < NLMSG_LENGTH(sizeof(struct crypto_user_alg)))
				return complain("list", EPROTO);
			print_alg(msg, want);
		}
	}
}

static int acknowledged(int fd, const char *what)
{
	struct {
		struct nlmsghdr hdr;
		struct nlmsgerr err;
		char rest[256];
	} ack;
	ssize_t got = recv(fd, &ack, sizeof(ack), 0);

	if (got < (ssize_t)NLMSG_LENGTH(sizeof(ack.err)) || ack.hdr.nlmsg_type != NLMSG_ERROR)
		return complain(what, EPROTO);
	return ack.err.error ? complain(what, -ack.err.error) : 0;
}

int main(int argc, char **argv)
{
	struct request req = { .hdr.nlmsg_len = NLMSG_LENGTH(sizeof(req.alg)) };
	const char *cmd = argc > 1 ? argv[1] : "";
	int fd;

	if (!strcmp(cmd, "list") && argc <= 3) {
		req.hdr.nlmsg_type = CRYPTO_MSG_GETALG;
		req.hdr.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	} else if (!strcmp(cmd, "priority") && argc == 5) {
		req.hdr.nlmsg_type = CRYPTO_MSG_UPDATEALG;
		req.hdr.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
		req.hdr.nlmsg_len = sizeof(req);
		req.attr.nla_type = CRYPTOCFGA_PRIORITY_VAL;
		req.attr.nla_len = sizeof(req.attr) + sizeof(req.priority);
		req.priority = strtoul(argv[4], NULL, 10);
	} else if (!strcmp(cmd, "delete") && argc == 4) {
		req.hdr.nlmsg_type = CRYPTO_MSG_DELALG;
		req.hdr.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	} else {
		fputs("usage: crypto_user list [SUBSTRING]\n"
		      "       crypto_user priority DRIVER NAME NUMBER\n"
		      "       crypto_user delete DRIVER NAME\n",
		      stderr);
		return 2;
	}
	if (argc >= 4) {
		snprintf(req.alg.cru_driver_name, sizeof(req.alg.cru_driver_name), "%s", argv[2]);
		snprintf(req.alg.cru_name, sizeof(req.alg.cru_name), "%s", argv[3]);
	}

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_CRYPTO);
	if (fd < 0 || send(fd, &req, req.hdr.nlmsg_len, 0) < 0)
		return complain("NETLINK_CRYPTO", errno);
	if (req.hdr.nlmsg_type == CRYPTO_MSG_GETALG)
		return list(fd, argc > 2 ? argv[2] : "");
	return acknowledged(fd, argv[2]);
}
