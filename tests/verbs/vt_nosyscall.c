// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vt_nosyscall: which verbs enter the kernel.
 *
 * 1. Posting receives, polling (empty and not) and arming: none does.  The
 *    calls run under a seccomp filter that traps every system call but those
 *    that end the program.  The filter cannot be taken off again, so this runs
 *    in a child.
 * 2. A stream of sends: how many doorbells per thousand.  Counted by syscall
 *    user dispatch, where the kernel has it; -m LIMIT makes it a test.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "shca_test.h"

#define MS	10000
#define N	64

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH	59
#define PR_SYS_DISPATCH_OFF		0
#define PR_SYS_DISPATCH_ON		1
#endif

/* ---- 1: none at all -------------------------------------------------- */

static const char *calling;

static void put(const char *s)
{
	if (write(STDERR_FILENO, s, strlen(s)) < 0)
		_exit(1);
}

static void trapped(int sig, siginfo_t *info, void *context)
{
	char text[32];
	int n = info->si_syscall, at = sizeof(text) - 1;

	(void)sig;
	(void)context;
	text[at] = '\0';
	do {
		text[--at] = '0' + n % 10;
		n /= 10;
	} while (n);
	put("FAIL: ");
	put(calling);
	put(" made system call ");
	put(text + at);
	put("\n");
	_exit(1);
}

static void trap_all(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_write, 0, 2),
		/* to stderr: another file would be a doorbell */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, STDERR_FILENO, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { ARRAY_SIZE(code), code };
	struct sigaction sa = { .sa_sigaction = trapped,
				.sa_flags = SA_SIGINFO };

	require(!sigaction(SIGSYS, &sa, NULL), "sigaction: %m");
	require(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs: %m");
	require(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog),
		"seccomp: %m");
}

static void quiet_region(struct vt_end *a, struct vt_end *b,
			 struct vt_buf *near, struct vt_buf *far)
{
	struct ibv_sge from = vt_sge(near, 0, 64), to = vt_sge(far, 0, 64);
	struct ibv_wc wc[4];
	int n, got = 0;

	for (int i = 0; i < N; i++)
		vt_post_recv(b->qp, i, &to, 1);
	for (int i = 0; i < N; i++)
		vt_post_send(a->qp, i, &from, 1, 0);
	for (int i = 0; i < N; i++)
		vt_wait(a->cq, MS, "send");

	trap_all();
	calling = "ibv_poll_cq with completions";
	while (got < N) {
		n = ibv_poll_cq(b->cq, 4, wc);
		if (n <= 0)
			break;
		for (int i = 0; i < n; i++)
			if (wc[i].status || wc[i].wr_id != (uint64_t)got++) {
				put("FAIL: wrong completion\n");
				_exit(1);
			}
	}
	if (got < N) {
		put("FAIL: receives are missing\n");
		_exit(1);
	}
	calling = "ibv_poll_cq on an empty queue";
	for (int i = 0; i < 1000; i++)
		n |= ibv_poll_cq(b->cq, 4, wc);
	calling = "ibv_post_recv";
	for (int i = 0; i < N; i++)
		if (vt_try_recv(b->qp, i, &to, 1)) {
			put("FAIL: post_recv\n");
			_exit(1);
		}
	calling = "ibv_req_notify_cq";
	for (int i = 0; i < N; i++)
		if (ibv_req_notify_cq(b->cq, i & 1)) {
			put("FAIL: req_notify_cq\n");
			_exit(1);
		}
	put("poll_cq, post_recv, req_notify_cq: no system call: ok\n");
	_exit(0);
}

/* ---- 2: the stream --------------------------------------------------- */

#if defined(__x86_64__)

static volatile unsigned char dispatch;
static volatile unsigned long calls;

static long raw_call(long nr, const greg_t *g)
{
	register long r10 asm("r10") = g[REG_R10];
	register long r8 asm("r8") = g[REG_R8];
	register long r9 asm("r9") = g[REG_R9];
	long ret;

	asm volatile("syscall" : "=a"(ret)
		     : "a"(nr), "D"(g[REG_RDI]), "S"(g[REG_RSI]),
		       "d"(g[REG_RDX]), "r"(r10), "r"(r8), "r"(r9)
		     : "rcx", "r11", "memory");
	return ret;
}

/* count it, then make it in the caller's stead */
static void counted(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	dispatch = 0;	/* sigreturn must pass, so the first call is counted */
	calls++;
	uc->uc_mcontext.gregs[REG_RAX] =
		raw_call(info->si_syscall, uc->uc_mcontext.gregs);
}

static bool dispatch_on(void)
{
	struct sigaction sa = { .sa_sigaction = counted,
				.sa_flags = SA_SIGINFO };

	require(!sigaction(SIGSYS, &sa, NULL), "sigaction: %m");
	dispatch = 0;
	return !prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0,
		      &dispatch);
}

static void stream(struct vt_end *a, struct vt_buf *near, struct vt_buf *far,
		   unsigned long n, long limit)
{
	struct ibv_sge from = vt_sge(near, 0, 1024);
	unsigned long posted = 0, done = 0, doorbells = 0;
	struct ibv_send_wr wr = {
		.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)far->p, far->mr->rkey },
	}, *bad;
	uint64_t deadline = vt_now_us() + MS * 1000ull * 10;
	struct ibv_wc wc;

	if (!dispatch_on()) {
		printf("SKIP doorbells of a stream: no syscall user dispatch: %s\n",
		       strerror(errno));
		return;
	}
	while (done < n) {
		while (posted < n && posted - done < 96) {
			int rc;

			wr.wr_id = posted;
			calls = 0;
			dispatch = 1;
			rc = ibv_post_send(a->qp, &wr, &bad);
			dispatch = 0;
			require(!rc, "post_send: %s", strerror(rc));
			doorbells += !!calls;
			posted++;
		}
		while (ibv_poll_cq(a->cq, 1, &wc) == 1) {
			require(wc.status == IBV_WC_SUCCESS && wc.wr_id == done,
				"wr_id %llu: %s", (unsigned long long)wc.wr_id,
				ibv_wc_status_str(wc.status));
			done++;
		}
		require(vt_now_us() < deadline, "%lu of %lu done", done, n);
	}
	prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
	printf("doorbells: %lu for %lu sends\n", doorbells, n);
	require(limit < 0 || doorbells * 1000 <= n * (unsigned long)limit,
		"more than %ld doorbells per 1000 sends", limit);
}

#else

static void stream(struct vt_end *a, struct vt_buf *near, struct vt_buf *far,
		   unsigned long n, long limit)
{
	(void)a, (void)near, (void)far, (void)n, (void)limit;
	printf("SKIP doorbells of a stream: counted on x86-64 only\n");
}

#endif

int main(int argc, char **argv)
{
	struct vt_pair pair = { .seconds = 120 };
	struct vt_opt opt = { .channel = true };
	struct vt_dev *da, *db;
	struct vt_buf near, far;
	unsigned long n = 5000;
	struct vt_end a, b;
	int c, status;
	long limit = -1;
	pid_t pid;

	while ((c = getopt(argc, argv, VT_PAIR_OPTS "n:m:")) != -1) {
		if (vt_pair_arg(&pair, c, optarg))
			continue;
		if (c == 'n')
			n = vt_number(optarg, 1, 100000000);
		else if (c == 'm')
			limit = vt_number(optarg, 0, 1000);
		else
			pair.dev_a = NULL, optind = argc;
	}
	if (!pair.dev_a) {
		fprintf(stderr, "usage: vt_nosyscall " VT_PAIR_USAGE
			" [-n SENDS] [-m DOORBELLS-PER-1000]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* the child opens the device itself: nothing verbs survives a fork */
	pid = fork();
	require(pid >= 0, "fork: %m");
	vt_pair_open(&pair, &da, &db);
	near = vt_alloc(da->pd, 4096, 0, VT_ALL_ACCESS);
	far = vt_alloc(db->pd, 4096, 0, VT_ALL_ACCESS);
	vt_end_create(&a, da, &opt);
	vt_end_create(&b, db, &opt);
	vt_connect(&a, &b, &opt);
	if (!pid)
		quiet_region(&a, &b, &near, &far);
	stream(&a, &near, &far, n, limit);
	vt_end_destroy(&a);
	vt_end_destroy(&b);
	vt_free(&near);
	vt_free(&far);
	require(waitpid(pid, &status, 0) == pid, "waitpid: %m");
	require(!status, "the child ended with %d", status);
	if (db != da)
		vt_close(db);
	vt_close(da);
	printf("vt_nosyscall: ok\n");
	return 0;
}
