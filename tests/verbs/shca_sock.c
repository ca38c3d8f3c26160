// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The control connection between two processes of a test; see shca_test.h. */
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shca_test.h"

static struct addrinfo *resolve(const char *host, const char *port)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV |
			    (host ? 0 : AI_PASSIVE),
	};
	struct addrinfo *res;
	int rc = getaddrinfo(host, port, &hints, &res);

	require(!rc, "%s port %s: %s", host ? host : "any", port,
		gai_strerror(rc));
	return res;
}

int vt_listen_accept(const char *port, unsigned int seconds)
{
	struct addrinfo *ai, *any = resolve(NULL, port);
	int one = 1, fd, sock;

	/* the IPv6 wildcard takes IPv4 too, where there is IPv6 */
	for (ai = any; ai->ai_next && ai->ai_family != AF_INET6;)
		ai = ai->ai_next;
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 && ai->ai_family == AF_INET6) {
		for (ai = any; ai->ai_next && ai->ai_family != AF_INET;)
			ai = ai->ai_next;
		fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	}
	require(fd >= 0, "socket: %m");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	require(!bind(fd, ai->ai_addr, ai->ai_addrlen), "bind to port %s: %m",
		port);
	require(!listen(fd, 1), "listen: %m");
	require(vt_readable(fd, seconds * 1000), "nobody came in %u s", seconds);
	sock = accept(fd, NULL, NULL);
	require(sock >= 0, "accept: %m");
	close(fd);
	freeaddrinfo(any);
	return sock;
}

int vt_dial(const char *host, const char *port, unsigned int seconds)
{
	struct addrinfo *ai = resolve(host, port);
	uint64_t end = vt_now_us() + seconds * 1000000ull;
	int fd;

	for (;;) {
		fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		require(fd >= 0, "socket: %m");
		if (!connect(fd, ai->ai_addr, ai->ai_addrlen))
			break;
		require(vt_now_us() < end, "connect to %s port %s: %m", host,
			port);
		close(fd);
		usleep(20000);
	}
	freeaddrinfo(ai);
	return fd;
}

void vt_tell(int sock, const void *p, size_t len)
{
	const uint8_t *b = p;

	while (len) {
		ssize_t n = send(sock, b, len, MSG_NOSIGNAL);

		require(n > 0, "the peer is gone: %m");
		b += n;
		len -= n;
	}
}

void vt_hear(int sock, void *p, size_t len)
{
	uint8_t *b = p;

	while (len) {
		ssize_t n = recv(sock, b, len, 0);

		require(n, "the peer has ended");
		require(n > 0, "control connection: %m");
		b += n;
		len -= n;
	}
}
