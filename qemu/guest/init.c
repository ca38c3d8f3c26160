// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * First program of every guest, from the initramfs: modules, mounts and the
 * loopback interface, then stage2 in the final root.
 *
 * One program instead of a script because a process costs 20 ms on User-mode
 * Linux, and ten times that on a busy host. The layers of the root come over
 * 9p (QEMU) or from the host's file system (UML, where lab.NAME=PATH of the
 * kernel's command line says where they are).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#define STAGE2 "/usr/lib/softhca-lab/stage2"
#define ISA_DEBUG_EXIT 0xf4	/* boot.sh: -device isa-debug-exit */

static char cmdline[8192];
static int hostfs;

/* to the kernel's log: a guest need not have a console it can open */
static void __attribute__((format(printf, 1, 2))) complain(const char *fmt, ...)
{
	va_list ap;
	int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	va_start(ap, fmt);
	dprintf(fd, "<3>lab: ");
	vdprintf(fd, fmt, ap);
	va_end(ap);
	close(fd);
}

/* the guest's death, which the host tells from an end */
static void __attribute__((noreturn)) die(const char *what)
{
	complain("%s: %s", what, strerror(errno));
	sync();
	reboot(RB_POWER_OFF);
	_exit(1);
}

/* value of `name` on the command line, NULL without; valid until the next */
static const char *arg(const char *name)
{
	static char value[4096];
	size_t len = strlen(name);
	const char *word = cmdline;

	while (*word) {
		size_t n = strcspn(word, " \n");

		if (n >= len && !strncmp(word, name, len) &&
		    (n == len || word[len] == '=') && n - len < sizeof(value)) {
			value[0] = '\0';
			if (n > len) {
				memcpy(value, word + len + 1, n - len - 1);
				value[n - len - 1] = '\0';
			}
			return value;
		}
		word += n;
		word += strspn(word, " \n");
	}
	return NULL;
}

/* `name` is one of the comma list lab.layers */
static int has_layer(const char *name)
{
	const char *list = arg("lab.layers");
	size_t len = strlen(name);

	while (list && *list) {
		size_t n = strcspn(list, ",");

		if (n == len && !strncmp(list, name, n))
			return 1;
		list += n + (list[n] == ',');
	}
	return 0;
}

/* mounts that not every kernel has are tried and no more */
static void try_mount(const char *type, const char *dir)
{
	mkdir(dir, 0755);
	mount(type, dir, type, 0, NULL);
}

static void attach(const char *name, const char *dir, int writable,
		   const char *cache)
{
	char opts[512], key[32];
	unsigned long flags = writable ? 0 : MS_RDONLY;

	mkdir(dir, 0755);
	if (hostfs) {
		snprintf(key, sizeof(key), "lab.%s", name);
		if (mount("none", dir, "hostfs", flags, arg(key)))
			die(name);
		return;
	}
	snprintf(opts, sizeof(opts),
		 "trans=virtio,version=9p2000.L,msize=512000,cache=%s", cache);
	if (mount(name, dir, "9p", flags, opts))
		die(name);
}

static void load_modules(void)
{
	char name[128], path[160];
	FILE *list = fopen("/mod/list", "re");

	while (list && fscanf(list, "%127s", name) == 1) {
		int fd;

		snprintf(path, sizeof(path), "/mod/%s", name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) &&
			       errno != EEXIST))
			die(name);
		close(fd);
	}
	if (list)
		fclose(list);
}

/* the host asks only whether its accelerator can boot anything */
static void answer_probe(void)
{
	int fd = open("/dev/port", O_WRONLY);

	if (fd >= 0 && pwrite(fd, "\x2a", 1, ISA_DEBUG_EXIT) != 1)
		complain("no /dev/port");
	reboot(RB_POWER_OFF);
}

static void mount_root(void)
{
	static const char *const layers[] = { "inst", "mods", "root" };
	char opts[256] = "upperdir=/rw/upper,workdir=/rw/work,lowerdir=";
	char dir[32];
	size_t i;

	for (i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		if (!has_layer(layers[i]))
			continue;
		snprintf(dir, sizeof(dir), "/lower/%s", layers[i]);
		attach(layers[i], dir, 0, "loose");
		if (opts[strlen(opts) - 1] != '=')
			strcat(opts, ":");
		strcat(opts, dir);
	}
	if (mount("tmpfs", "/rw", "tmpfs", 0, "size=70%"))
		die("tmpfs");
	mkdir("/rw/upper", 0755);
	mkdir("/rw/work", 0755);
	if (mount("overlay", "/new", "overlay", 0, opts))
		die("overlay");
}

static void mount_shares(void)
{
	mkdir("/new/lab", 0755);
	attach("src", "/new/softhca", 0, "loose");
	attach("ctl", "/new/lab/ctl", 1, "none");
	if (has_layer("peer"))
		attach("peer", "/new/lab/peer", 1, "none");
	if (has_layer("share"))
		attach("share", "/new/share", 1, "none");
	mkdir("/new/usr/lib/softhca-lab", 0755);
	if (mount("/lab", "/new/usr/lib/softhca-lab", NULL, MS_BIND, NULL))
		die("lab scripts");
}

static void enter_root(void)
{
	static const char *const moved[] = { "/proc", "/sys", "/dev" };
	char to[16];
	size_t i;

	for (i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
		snprintf(to, sizeof(to), "/new%s", moved[i]);
		if (mount(moved[i], to, NULL, MS_MOVE, NULL))
			die(to);
	}
	if (chdir("/new") || mount(".", "/", NULL, MS_MOVE, NULL) ||
	    chroot(".") || chdir("/"))
		die("switching to the root");
}

static void mount_rest(void)
{
	try_mount("devpts", "/dev/pts");
	try_mount("tmpfs", "/dev/shm");
	try_mount("tmpfs", "/run");
	try_mount("tmpfs", "/tmp");
	try_mount("debugfs", "/sys/kernel/debug");
	try_mount("tracefs", "/sys/kernel/tracing");
	try_mount("bpf", "/sys/fs/bpf");
	try_mount("cgroup2", "/sys/fs/cgroup");
	try_mount("configfs", "/sys/kernel/config");
	chmod("/tmp", 01777);
	chmod("/dev/shm", 01777);
	mkdir("/run/netns", 0755);
	mkdir("/run/lock", 0755);
	if (symlink("/proc/self/fd", "/dev/fd") ||
	    symlink("fd/0", "/dev/stdin") || symlink("fd/1", "/dev/stdout") ||
	    symlink("fd/2", "/dev/stderr"))
		complain("/dev: %s", strerror(errno));
}

/*
 * User-mode Linux has no source of noise: the first program that asks for
 * random bytes (Python does) would wait for minutes. Nothing in a guest is
 * secret, so nothing is lost by a seed that everybody knows.
 */
static void seed_random(void)
{
	struct {
		struct rand_pool_info info;
		unsigned char bytes[64];
	} seed = { .info = { 8 * sizeof(seed.bytes), sizeof(seed.bytes) } };
	int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, RNDADDENTROPY, &seed))
		complain("no seed for /dev/random: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &ifr))
		die("lo");
	ifr.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &ifr))
		die("lo");
	close(fd);
}

/* what COMMAND prints is to arrive as it was printed */
static void raw_output(void)
{
	char path[64];
	struct termios tio;
	const char *out = arg("lab.out");
	int fd;

	snprintf(path, sizeof(path), "/dev/%s", out ? out : "");
	fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || tcgetattr(fd, &tio))
		die(path);
	cfmakeraw(&tio);
	if (tcsetattr(fd, TCSANOW, &tio))
		die(path);
	close(fd);
}

/* without a console, standard input and output are not even open */
static void open_standard(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

int main(void)
{
	char *argv[] = { STAGE2, NULL };
	ssize_t n;
	int fd;

	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	open_standard();
	fd = open("/proc/cmdline", O_RDONLY);
	n = read(fd, cmdline, sizeof(cmdline) - 1);
	if (n <= 0)
		die("/proc/cmdline");
	close(fd);
	load_modules();
	if (arg("lab.probe"))
		answer_probe();
	hostfs = !!arg("lab.hostfs");
	mount_root();
	mount_shares();
	enter_root();
	mount_rest();
	seed_random();
	loopback_up();
	raw_output();
	execv(STAGE2, argv);
	die(STAGE2);
}
