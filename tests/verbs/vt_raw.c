// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_raw: commands that no provider would give, written to the device's file.
 *
 *   answers    CREATE_CQ, _QP and _AH with room for less of the module's
 *              response (an older provider) or for more (a newer one)
 *   limits     as many CQs and QPs as query_device says, and not one more
 *   charge     in a memory cgroup that holds few: CQs as large as may be
 *   charge-qp  the same of QPs as small as may be: prints how many it has
 *   ahs        as many AHs as query_device says, "ready", and a line on stdin
 */
#include <errno.h>
#include <getopt.h>
#include <rdma/ib_user_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shca_test.h"
#include "softhca-abi.h"

#define ROOM	256	/* bytes of a response, the most that is tried */

/* Returns 0 or an errno. */
static int command(struct vt_dev *dev, uint32_t number, void *cmd, size_t len,
		   size_t out_len)
{
	struct ib_uverbs_cmd_hdr *hdr = cmd;

	hdr->command = number;
	hdr->in_words = len / 4;
	hdr->out_words = out_len / 4;
	return write(dev->ctx->cmd_fd, cmd, len) == (ssize_t)len ? 0 : errno;
}

/* One kind of object: how it is made, with @drv bytes for the module's answer */
struct kind {
	const char *name;
	size_t core, full, least;
	int (*create)(struct vt_dev *dev, uint8_t *resp, size_t drv);
	int (*destroy)(struct vt_dev *dev, uint32_t handle);
};

static struct ibv_cq *some_cq;

static int create_cq(struct vt_dev *dev, uint8_t *resp, size_t drv)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_cq core;
	} cmd = {
		.core = {
			.response = (uintptr_t)resp, .cqe = 1,
			.comp_channel = -1,
		},
	};

	return command(dev, IB_USER_VERBS_CMD_CREATE_CQ, &cmd, sizeof(cmd),
		       sizeof(struct ib_uverbs_create_cq_resp) + drv);
}

static int destroy_cq(struct vt_dev *dev, uint32_t handle)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_cq core;
	} cmd = {
		.core = { .response = (uintptr_t)&resp, .cq_handle = handle },
	};

	return command(dev, IB_USER_VERBS_CMD_DESTROY_CQ, &cmd, sizeof(cmd),
		       sizeof(resp));
}

static int create_qp(struct vt_dev *dev, uint8_t *resp, size_t drv)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_qp core;
	} cmd = {
		.core = {
			.response = (uintptr_t)resp,
			.pd_handle = dev->pd->handle,
			.send_cq_handle = some_cq->handle,
			.recv_cq_handle = some_cq->handle,
			.max_send_wr = 1, .max_recv_wr = 1,
			.max_send_sge = 1, .max_recv_sge = 1,
			.qp_type = IBV_QPT_RC,
		},
	};

	return command(dev, IB_USER_VERBS_CMD_CREATE_QP, &cmd, sizeof(cmd),
		       sizeof(struct ib_uverbs_create_qp_resp) + drv);
}

static int destroy_qp(struct vt_dev *dev, uint32_t handle)
{
	struct ib_uverbs_destroy_qp_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_qp core;
	} cmd = {
		.core = { .response = (uintptr_t)&resp, .qp_handle = handle },
	};

	return command(dev, IB_USER_VERBS_CMD_DESTROY_QP, &cmd, sizeof(cmd),
		       sizeof(resp));
}

static int create_ah(struct vt_dev *dev, uint8_t *resp, size_t drv)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_ah core;
	} cmd = {
		.core = {
			.response = (uintptr_t)resp,
			.pd_handle = dev->pd->handle,
			.attr = {
				.is_global = 1, .port_num = 1,
				.grh = {
					.sgid_index = dev->gid_index,
					.hop_limit = 1,
				},
			},
		},
	};

	memcpy(cmd.core.attr.grh.dgid, dev->gid.raw, sizeof(dev->gid));
	return command(dev, IB_USER_VERBS_CMD_CREATE_AH, &cmd, sizeof(cmd),
		       sizeof(struct ib_uverbs_create_ah_resp) + drv);
}

static int destroy_ah(struct vt_dev *dev, uint32_t handle)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_ah core;
	} cmd = { .core = { .ah_handle = handle } };

	return command(dev, IB_USER_VERBS_CMD_DESTROY_AH, &cmd, sizeof(cmd), 0);
}

#define END(s, f) (offsetof(struct s, f) + sizeof(((struct s *)0)->f))

/* @least is what the first version needed, for ever. */
static const struct kind kinds[] = {
	{ "CQ", sizeof(struct ib_uverbs_create_cq_resp),
	  sizeof(struct shca_create_cq_resp), END(shca_create_cq_resp, entries),
	  create_cq, destroy_cq },
	{ "QP", sizeof(struct ib_uverbs_create_qp_resp),
	  sizeof(struct shca_create_qp_resp),
	  END(shca_create_qp_resp, rq_max_sge), create_qp, destroy_qp },
	{ "AH", sizeof(struct ib_uverbs_create_ah_resp),
	  sizeof(struct shca_create_ah_resp), END(shca_create_ah_resp, ah),
	  create_ah, destroy_ah },
};

/* the handle is the first word of each response */
static uint32_t handle_of(const uint8_t *resp)
{
	uint32_t handle;

	memcpy(&handle, resp, sizeof(handle));
	return handle;
}

static void answer(struct vt_dev *dev, const struct kind *k, size_t drv)
{
	size_t written = k->core + MIN(drv, k->full);
	uint8_t resp[ROOM];
	int rc;

	vt_step("%s with %zu bytes for the module's response", k->name, drv);
	memset(resp, VT_POISON, sizeof(resp));
	rc = k->create(dev, resp, drv);
	if (drv < k->least) {
		require(rc == EINVAL, "%s", rc ? strerror(rc) : "was made");
		return;
	}
	require(!rc, "%s", strerror(rc));
	for (size_t i = k->core; i < k->core + k->least; i++)
		if (resp[i] != VT_POISON)
			goto filled;
	fail("nothing was answered");
filled:
	vt_check_byte(resp + written, sizeof(resp) - written, VT_POISON,
		      "behind the response");
	rc = k->destroy(dev, handle_of(resp));
	require(!rc, "destroy: %s", strerror(rc));
}

static void answers(struct vt_dev *dev)
{
	struct ibv_device_attr attr;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct kind *k = &kinds[i];

		for (size_t drv = 0; drv <= k->full + 16; drv += 4)
			answer(dev, k, drv);
		printf("%s: %zu bytes suffice, %zu are known: ok\n", k->name,
		       k->least, k->full);
	}
	require(!ibv_query_device(dev->ctx, &attr), "query_device");
	require(attr.vendor_id, "vendor_id is 0");
}

/* ib_core and its clients have a few of their own. */
#define OTHERS	8

static void limit(struct vt_dev *dev, const struct kind *k, unsigned int max)
{
	uint8_t resp[ROOM];
	unsigned int n = 0;
	int rc;

	vt_step("%u %ss", max, k->name);
	while (n <= max) {
		rc = k->create(dev, resp, k->full);
		if (rc)
			break;
		n++;
	}
	require(n <= max, "%u %ss, and the device has %u", n, k->name, max);
	require(rc == ENOMEM, "after %u %ss: %s", n, k->name, strerror(rc));
	require(n + OTHERS > max, "only %u of %u %ss", n, max, k->name);
	/* the last one's handle is still in @resp: a failure wrote nothing */
	rc = k->destroy(dev, handle_of(resp));
	require(!rc, "destroy: %s", strerror(rc));
	rc = k->create(dev, resp, k->full);
	require(!rc, "one for one that is gone: %s", strerror(rc));
	rc = k->create(dev, resp, k->full);
	require(rc == ENOMEM, "once more past the limit: %s", strerror(rc));
	printf("%s: %u and not one more: ok\n", k->name, n);
}

static void limits(struct vt_dev *dev)
{
	struct ibv_device_attr attr;

	require(!ibv_query_device(dev->ctx, &attr), "query_device");
	limit(dev, &kinds[0], attr.max_cq);
	limit(dev, &kinds[1], attr.max_qp);
	/* All go with the process, or rather its file. */
}

/* The process is refused, or killed for want of memory, before it has 40. */
static void charge(struct vt_dev *dev)
{
	struct ibv_device_attr attr;
	unsigned int n;

	require(!ibv_query_device(dev->ctx, &attr), "query_device");
	for (n = 0; n < 40; n++)
		if (!ibv_create_cq(dev->ctx, attr.max_cqe, NULL, NULL, 0))
			break;
	require(n < 40, "%u CQs of %d CQEs", n, attr.max_cqe);
	require(errno == ENOMEM, "CQ %u: %m", n);
	printf("%u CQs of %d CQEs\n", n, attr.max_cqe);
}

/* Ends by being refused, or killed; who runs it looks at the last number. */
static void charge_qp(struct vt_dev *dev)
{
	const struct kind *k = &kinds[1];
	uint8_t resp[ROOM];
	unsigned int n;
	int rc;

	for (n = 0; !(rc = k->create(dev, resp, k->full)); n++) {
		if (n % 64)
			continue;
		printf("%u\n", n);
		fflush(stdout);
	}
	require(rc == ENOMEM, "QP %u: %s", n, strerror(rc));
}

static void ahs(struct vt_dev *dev)
{
	const struct kind *k = &kinds[2];
	struct ibv_device_attr attr;
	uint8_t resp[ROOM];
	int n, rc;

	require(!ibv_query_device(dev->ctx, &attr), "query_device");
	vt_step("%d AHs", attr.max_ah);
	for (n = 0; !(rc = k->create(dev, resp, k->full)); n++)
		require(n < attr.max_ah, "%d AHs and no end", n);
	require(rc == EBUSY, "after %d AHs: %s", n, strerror(rc));
	/* Kernel consumers have a few of their own among the numbers. */
	require(n + 64 > attr.max_ah, "only %d of %d AHs", n, attr.max_ah);
	printf("ready\n");
	fflush(stdout);
	getchar();
}

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 300 };
	struct vt_dev *dev, *same;

	vt_pair_parse(&pair, argc, argv, NULL);
	require(optind + 1 == argc, "answers, limits, charge, charge-qp or ahs?");
	vt_pair_open(&pair, &dev, &same);
	some_cq = ibv_create_cq(dev->ctx, 1, NULL, NULL, 0);
	require(some_cq, "create_cq: %m");
	if (!strcmp(argv[optind], "answers"))
		answers(dev);
	else if (!strcmp(argv[optind], "limits"))
		limits(dev);
	else if (!strcmp(argv[optind], "charge"))
		charge(dev);
	else if (!strcmp(argv[optind], "charge-qp"))
		charge_qp(dev);
	else if (!strcmp(argv[optind], "ahs"))
		ahs(dev);
	else
		fail("no such test: %s", argv[optind]);
	printf("vt_raw %s: ok\n", argv[optind]);
	return 0;
}
