// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_bind: some threads bind one queue pair to a counter of its own at the same
 * time, over and over, as so many `rdma statistic qp bind` would, while another reads
 * the port's counters.  One of them succeeds each time, and the reader never hangs.
 *
 *	vt_bind -d DEV -n TIMES INDEX
 *
 * INDEX is the device's number of rdma_netlink: `rdma dev`.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shca_test.h"

#define THREADS	8

static struct vt_dev *dev;
static uint32_t dev_index, qpn;
static unsigned long times = 1000;
static pthread_barrier_t barrier;
static volatile bool over;

/* what the last bind of a thread came to: an errno and the counter's number */
static struct result {
	int err;
	uint32_t counter;
} results[THREADS];

struct request {
	struct nlmsghdr hdr;
	uint8_t attrs[128];
};

static void put(struct request *req, uint16_t type, uint32_t value)
{
	struct nlattr *a = (void *)((uint8_t *)req + req->hdr.nlmsg_len);

	a->nla_len = NLA_HDRLEN + sizeof(value);
	a->nla_type = type;
	memcpy(a + 1, &value, sizeof(value));
	req->hdr.nlmsg_len += NLA_ALIGN(a->nla_len);
}

static uint32_t counter_of(const struct nlmsghdr *hdr)
{
	const uint8_t *at = (const uint8_t *)(hdr + 1);
	const uint8_t *end = (const uint8_t *)hdr + hdr->nlmsg_len;
	uint32_t value;

	while (at + NLA_HDRLEN <= end) {
		const struct nlattr *a = (const void *)at;

		if (a->nla_type == RDMA_NLDEV_ATTR_STAT_COUNTER_ID) {
			memcpy(&value, a + 1, sizeof(value));
			return value;
		}
		at += NLA_ALIGN(a->nla_len);
	}
	fail("an answer without a counter");
}

/* STAT_SET binds to a new counter, STAT_DEL unbinds from @counter */
static struct result ask(int sock, uint16_t command, uint32_t counter)
{
	struct request req = {
		.hdr = {
			.nlmsg_len = sizeof(req.hdr),
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command),
			.nlmsg_flags = NLM_F_REQUEST,
		},
	};
	_Alignas(struct nlmsghdr) uint8_t answer[1024];
	struct nlmsghdr *hdr = (struct nlmsghdr *)answer;
	ssize_t n;

	put(&req, RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
	put(&req, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	put(&req, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
	put(&req, RDMA_NLDEV_ATTR_RES_LQPN, qpn);
	if (command == RDMA_NLDEV_CMD_STAT_SET)
		put(&req, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_MANUAL);
	else
		put(&req, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, counter);
	require(send(sock, &req, req.hdr.nlmsg_len, 0) ==
		(ssize_t)req.hdr.nlmsg_len, "send: %m");
	n = recv(sock, answer, sizeof(answer), 0);
	require(n >= (ssize_t)sizeof(*hdr), "recv: %zd %m", n);
	if (hdr->nlmsg_type == NLMSG_ERROR)
		return (struct result) {
			.err = -((struct nlmsgerr *)(hdr + 1))->error,
		};
	return (struct result) { .counter = counter_of(hdr) };
}

static int nl_socket(void)
{
	int sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);

	require(sock >= 0, "NETLINK_RDMA: %m");
	return sock;
}

static void *bind_thread(void *arg)
{
	struct result *r = arg;
	int sock = nl_socket();

	for (unsigned long i = 0; i < times; i++) {
		pthread_barrier_wait(&barrier);
		*r = ask(sock, RDMA_NLDEV_CMD_STAT_SET, 0);
		pthread_barrier_wait(&barrier);
	}
	close(sock);
	return NULL;
}

static void *read_thread(void *arg)
{
	(void)arg;
	while (!over)
		vt_counter(dev, "rx_packets");
	return NULL;
}

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 240 };
	pthread_t thread[THREADS], reader;
	struct vt_dev *same;
	struct vt_end end;
	int sock;

	vt_pair_parse(&pair, argc, argv, &times);
	require(optind + 1 == argc, "which INDEX?");
	dev_index = vt_number(argv[optind], 0, INT32_MAX);
	vt_pair_open(&pair, &dev, &same);
	vt_end_create(&end, dev, &(struct vt_opt) { 0 });
	qpn = end.qp->qp_num;
	sock = nl_socket();
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		require(!pthread_create(&thread[i], NULL, bind_thread,
					&results[i]), "pthread_create");
	require(!pthread_create(&reader, NULL, read_thread, NULL),
		"pthread_create");
	for (unsigned long i = 0; i < times; i++) {
		struct result *won = NULL;

		vt_step("%d at once for the %luth time", THREADS, i + 1);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		for (int t = 0; t < THREADS; t++) {
			if (results[t].err)
				continue;
			require(!won, "it is bound to counters %u and %u",
				won->counter, results[t].counter);
			won = &results[t];
		}
		require(won, "all are refused: %s", strerror(results[0].err));
		require(!ask(sock, RDMA_NLDEV_CMD_STAT_DEL, won->counter).err,
			"it is not bound to counter %u", won->counter);
	}
	over = true;
	pthread_join(reader, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	vt_end_destroy(&end);
	vt_close(dev);
	printf("vt_bind: ok\n");
	return 0;
}
