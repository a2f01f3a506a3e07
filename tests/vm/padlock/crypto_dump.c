/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Guest program: prints the kernel's NETLINK_CRYPTO list, one algorithm a line, with decoded flags.
 * Must not know hwluks: it is the second opinion that hwluks' own reading is compared with.
 *
 * usage: crypto_dump [SUBSTRING]   only algorithms whose name or driver contains SUBSTRING
 * Exit: 0 list complete, 1 no NETLINK_CRYPTO (module crypto_user) or a broken answer.
 */
#include <errno.h>
#include <stdio.h>
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
	{ 0x00000010, "larval" },	{ 0x00000020, "dead" },
	{ 0x00000040, "dying" },	{ 0x00000080, "async" },
	{ 0x00000100, "need-fallback" }, { 0x00000400, "tested" },
	{ 0x00000800, "instance" },	{ 0x00001000, "kern-driver-only" },
	{ 0x00002000, "internal" },	{ 0x00004000, "optional-key" },
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

int main(int argc, char **argv)
{
	static char buf[65536];
	const char *want = argc > 1 ? argv[1] : "";
	struct {
		struct nlmsghdr hdr;
		struct crypto_user_alg alg;
	} req = {
		.hdr.nlmsg_len = sizeof(req),
		.hdr.nlmsg_type = CRYPTO_MSG_GETALG,
		.hdr.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_CRYPTO);

	if (fd < 0 || send(fd, &req, sizeof(req), 0) < 0) {
		fprintf(stderr, "crypto_dump: NETLINK_CRYPTO: %s\n", strerror(errno));
		return 1;
	}
	for (;;) {
		ssize_t got = recv(fd, buf, sizeof(buf), 0);
		struct nlmsghdr *msg = (struct nlmsghdr *)buf;

		if (got <= 0) {
			fprintf(stderr, "crypto_dump: recv: %s\n", strerror(errno));
			return 1;
		}
		for (; NLMSG_OK(msg, (size_t)got); msg = NLMSG_NEXT(msg, got)) {
			if (msg->nlmsg_type == NLMSG_DONE) {
				close(fd);
				return 0;
			}
			if (msg->nlmsg_type == NLMSG_ERROR ||
			    msg->nlmsg_len < NLMSG_LENGTH(sizeof(struct crypto_user_alg))) {
				fprintf(stderr, "crypto_dump: the kernel refused the dump\n");
				return 1;
			}
			print_alg(msg, want);
		}
	}
}
