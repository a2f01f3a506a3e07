// SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
/*
 * For: running QEMU with a model of the Geode LX AES block: the far end of x-pci-proxy-dev's
 * socket. Must not know: what the engine does (geode-engine.c), or what the guest is booted for.
 *
 * usage: geode-model [--fault SPEC] [--stats FILE] [--trace] -- QEMU ARGUMENTS...
 *
 * QEMU's arguments must contain  -device x-pci-proxy-dev,id=geode,fd=10  and shared guest memory
 * (memory-backend-memfd,share=on). The exit code is QEMU's, 128 + N where signal N ended it, 2 for
 * a wrong usage, 3 where the protocol broke. Neither process outlives the other.
 *
 * The protocol is private to QEMU (include/hw/remote/mpqemu-link.h) and in host byte order; this
 * is 7.2's, unchanged since 5.2. A message that should be answered and is not freezes the guest's
 * CPU, an answer too many puts every later one out of step.
 */
#include "geode-engine.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define QEMU_FD     10
#define MAX_REGIONS 8

enum message {
	MSG_MEMORY_MAP, /* no answer */
	MSG_ANSWER,
	MSG_CONFIG_WRITE,
	MSG_CONFIG_READ,
	MSG_BAR_WRITE,
	MSG_BAR_READ,
	MSG_IRQ_FDS, /* no answer */
	MSG_RESET,
};

struct header {
	int32_t command;
	uint32_t padding;
	uint64_t size;
};

union payload {
	struct {
		uint64_t gpa[MAX_REGIONS], size[MAX_REGIONS], offset[MAX_REGIONS];
	} map;
	struct {
		uint32_t offset, value;
		int32_t width;
	} config;
	struct {
		uint64_t addr, value;
		uint32_t width;
		uint8_t is_memory;
	} bar;
	uint8_t bytes[256];
};

struct region {
	uint64_t gpa, size;
	uint8_t *host;
};

struct link {
	int sock;
	bool trace;
	struct region region[MAX_REGIONS];
	unsigned int nregions;
	uint64_t messages;
	struct geode engine;
};

static volatile sig_atomic_t child;

static void complain(const char *what)
{
	fprintf(stderr, "geode-model: %s: %s\n", what, strerror(errno));
}

/* The guest memory behind a physical address; the call-back of the engine. */
static uint8_t *guest_memory(void *opaque, uint32_t addr, uint32_t len)
{
	struct link *l = opaque;

	for (unsigned int i = 0; i < l->nregions; i++) {
		const struct region *r = &l->region[i];

		if (addr >= r->gpa && (uint64_t)addr + len <= r->gpa + r->size)
			return r->host + (addr - r->gpa);
	}
	fprintf(stderr, "geode-model: DMA outside RAM: 0x%08x+%u\n", addr, len);
	return NULL;
}

static void unmap_all(struct link *l)
{
	for (unsigned int i = 0; i < l->nregions; i++)
		munmap(l->region[i].host, l->region[i].size);
	l->nregions = 0;
}

/* Each map message replaces the whole table. */
static int map_memory(struct link *l, const union payload *p, const int *fds, unsigned int nfds)
{
	unmap_all(l);
	for (unsigned int i = 0; i < nfds; i++) {
		struct region *r = &l->region[l->nregions];

		r->gpa = p->map.gpa[i];
		r->size = p->map.size[i];
		r->host = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, fds[i],
		               (off_t)p->map.offset[i]);
		if (r->host == MAP_FAILED) {
			complain("cannot map guest memory");
			return -1;
		}
		l->nregions++;
	}
	return 0;
}

/* Returns 1, 0 at the end of the stream, -1 on error. */
static int read_all(int fd, void *buf, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = read(fd, (char *)buf + done, len - done);

		if (n == 0)
			return 0;
		if (n > 0)
			done += (size_t)n;
		else if (errno != EINTR)
			return errno == ECONNRESET ? 0 : -1;
	}
	return 1;
}

/*
 * Descriptors ride on the header's bytes: it is read by itself, so that none get lost.
 * Returns as read_all.
 */
static int read_header(int sock, struct header *h, int *fds, unsigned int *nfds)
{
	union {
		char buf[CMSG_SPACE(sizeof(int) * MAX_REGIONS)];
		struct cmsghdr align;
	} control;
	struct iovec io = { .iov_base = h, .iov_len = sizeof(*h) };
	struct msghdr m = { .msg_iov = &io,
		            .msg_iovlen = 1,
		            .msg_control = control.buf,
		            .msg_controllen = sizeof(control.buf) };
	ssize_t n;

	*nfds = 0;
	do {
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n == 0 || errno == ECONNRESET ? 0 : -1;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
			*nfds = (unsigned int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
			memcpy(fds, CMSG_DATA(c), *nfds * sizeof(int));
		}
	if ((size_t)n < sizeof(*h))
		return read_all(sock, (char *)h + n, sizeof(*h) - (size_t)n);
	return 1;
}

static int answer(const struct link *l, uint64_t value)
{
	struct {
		struct header h;
		uint64_t value;
	} m = { .h = { .command = MSG_ANSWER, .size = sizeof(value) }, .value = value };
	ssize_t n;

	do {
		n = send(l->sock, &m, sizeof(m), MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(m) && errno != EPIPE) {
		complain("cannot answer QEMU");
		return -1;
	}
	return 0;
}

static int handle(struct link *l, const struct header *h, const union payload *p, const int *fds,
                  unsigned int nfds)
{
	if (l->trace)
		fprintf(stderr, "geode-model: message %d, %llu bytes\n", h->command,
		        (unsigned long long)h->size);
	switch (h->command) {
	case MSG_MEMORY_MAP:
		return map_memory(l, p, fds, nfds);
	case MSG_IRQ_FDS:
		return 0; /* the driver polls; QEMU without KVM could not pass an interrupt on */
	case MSG_CONFIG_READ:
		return answer(l, geode_config_read(&l->engine, p->config.offset,
		                                   (unsigned int)p->config.width));
	case MSG_CONFIG_WRITE:
		geode_config_write(&l->engine, p->config.offset, p->config.value,
		                   (unsigned int)p->config.width);
		return answer(l, 0);
	case MSG_BAR_READ:
		return answer(l, geode_bar_read(&l->engine, p->bar.addr, p->bar.width));
	case MSG_BAR_WRITE:
		geode_bar_write(&l->engine, p->bar.addr, (uint32_t)p->bar.value, p->bar.width);
		return answer(l, 0);
	case MSG_RESET:
		geode_reset(&l->engine);
		return answer(l, 0);
	}
	fprintf(stderr, "geode-model: unknown message %d: not the QEMU this was written for?\n",
	        h->command);
	return -1;
}

/* Serves QEMU until it closes the socket. Returns 0, or -1 where the protocol broke. */
static int serve(struct link *l)
{
	int fds[MAX_REGIONS], rc;
	struct header h;
	union payload p;
	unsigned int nfds;

	for (;;) {
		rc = read_header(l->sock, &h, fds, &nfds);
		if (rc <= 0)
			break;
		if (h.size > sizeof(p)) {
			fprintf(stderr, "geode-model: a message of %llu bytes\n",
			        (unsigned long long)h.size);
			rc = -1;
		} else {
			memset(&p, 0, sizeof(p));
			rc = read_all(l->sock, &p, (size_t)h.size);
		}
		if (rc > 0 && handle(l, &h, &p, fds, nfds))
			rc = -1;
		for (unsigned int i = 0; i < nfds; i++)
			close(fds[i]);
		if (rc <= 0)
			break;
		l->messages++;
	}
	unmap_all(l);
	return rc;
}

static int write_stats(const struct link *l, const char *path)
{
	static const char *const name[] = { "ecb_dec", "ecb_enc", "cbc_dec", "cbc_enc" };
	const struct geode *g = &l->engine;
	FILE *f = fopen(path, "we");
	bool bad;

	if (!f) {
		complain(path);
		return -1;
	}
	for (unsigned int i = 0; i < 4; i++)
		fprintf(f, "%s_ops %llu\n%s_bytes %llu\n", name[i],
		        (unsigned long long)g->count[i / 2][i % 2].ops, name[i],
		        (unsigned long long)g->count[i / 2][i % 2].bytes);
	fprintf(f, "faults %llu\nrejected %llu\nmessages %llu\n", (unsigned long long)g->faults,
	        (unsigned long long)g->rejected, (unsigned long long)l->messages);
	bad = ferror(f);
	if (fclose(f) || bad) {
		complain(path);
		return -1;
	}
	return 0;
}

/* A signal to the model is one to QEMU, whose end then ends the model the usual way. */
static void pass_on(int sig)
{
	const int saved = errno;

	if (child > 0)
		kill((pid_t)child, sig);
	errno = saved;
}

static pid_t start_qemu(char **argv, int mine, int theirs)
{
	const pid_t parent = getpid();
	pid_t pid = fork();

	if (pid)
		return pid;
	/* Should the model die without a word, QEMU must not stay behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	close(mine);
	if (theirs == QEMU_FD) {
		fcntl(QEMU_FD, F_SETFD, 0);
	} else {
		if (dup2(theirs, QEMU_FD) < 0)
			_exit(127);
		close(theirs);
	}
	execvp(argv[0], argv);
	complain(argv[0]);
	_exit(127);
}

static int usage(void)
{
	fputs("usage: geode-model [--fault SPEC] [--stats FILE] [--trace] -- QEMU ARGUMENTS...\n"
	      "SPEC: none | data | iv | hang, then any of ,after=N ,min=BYTES ,armed\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "fault", required_argument, NULL, 'f' },
		{ "stats", required_argument, NULL, 's' },
		{ "trace", no_argument, NULL, 't' },
		{ 0 },
	};
	static struct link l;
	struct geode_fault fault = { 0 };
	struct sigaction sa = { .sa_handler = pass_on };
	const char *stats = NULL;
	int sv[2], status = 0, rc, c;
	bool bad;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (c == 's')
			stats = optarg;
		else if (c == 't')
			l.trace = true;
		else if (c != 'f' || geode_fault_parse(optarg, &fault))
			return usage();
	}
	if (optind >= argc)
		return usage();
	geode_init(&l.engine, &fault, guest_memory, &l);

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv)) {
		complain("socketpair");
		return 1;
	}
	l.sock = sv[0];
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	child = start_qemu(argv + optind, sv[0], sv[1]);
	close(sv[1]);
	if (child < 0) {
		complain("fork");
		return 1;
	}
	rc = serve(&l);
	close(sv[0]);
	if (rc < 0)
		kill((pid_t)child, SIGKILL);
	bad = stats && write_stats(&l, stats);
	while (waitpid((pid_t)child, &status, 0) < 0 && errno == EINTR)
		;
	if (rc < 0)
		return 3;
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return bad ? 1 : WEXITSTATUS(status);
}
