/* Preloaded into a process that is to be killed: ends it around its n-th flush to disk, or in the middle of its n-th write
 * to a file. Armed by `dying_arm`; processes that it starts are not counted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { NEVER, BEFORE_FLUSH, DURING_FLUSH, AFTER_FLUSH, TORN_WRITE };
static int moment = NEVER;
static long countdown;
static pid_t armed;

void dying_arm(int when, long n) {
    countdown = n;
    armed = getpid();
    moment = when;
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static int due(void) { return armed == getpid() && __atomic_sub_fetch(&countdown, 1, __ATOMIC_SEQ_CST) == 0; }

/* The kernel kills the process a moment from now, while it waits for the disk. */
static void die_soon(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec time = {.it_value = {.tv_nsec = 20000}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &time, NULL)) die();
}

static int flush(const char *name, int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    int now = moment >= BEFORE_FLUSH && moment <= AFTER_FLUSH && due();
    if (now && moment == BEFORE_FLUSH) die();
    if (now && moment == DURING_FLUSH) die_soon();
    int result = real(fd);
    if (now) die();
    return result;
}

int fsync(int fd) { return flush("fsync", fd); }
int fdatasync(int fd) { return flush("fdatasync", fd); }

static int torn(int fd) {
    struct stat about;
    return moment == TORN_WRITE && !fstat(fd, &about) && S_ISREG(about.st_mode) && due();
}

ssize_t write(int fd, const void *bytes, size_t n) {
    ssize_t (*real)(int, const void *, size_t) = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    if (!torn(fd)) return real(fd, bytes, n);
    real(fd, bytes, n / 2);
    die();
    return -1;
}

static ssize_t write_at(const char *name, int fd, const void *bytes, size_t n, off64_t at) {
    ssize_t (*real)(int, const void *, size_t, off64_t) =
        (ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, name);
    if (!torn(fd)) return real(fd, bytes, n, at);
    real(fd, bytes, n / 2, at);
    die();
    return -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) { return write_at("pwrite", fd, bytes, n, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at) { return write_at("pwrite64", fd, bytes, n, at); }
