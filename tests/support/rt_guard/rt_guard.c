/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rt_guard.c - LD_PRELOAD library that aborts when a thread inside a guarded
 * region allocates, locks, sleeps or enters the kernel.
 *
 * The runtime looks up hr_guard_enter and hr_guard_leave in each process and
 * calls them around its hot path; a region is per thread and does not nest.
 * With allow_fd, what an op that watches descriptors may do is allowed: read,
 * write, send and receive.  Everything an application can reach through libc's
 * dynamic symbols is seen; inline system calls and libc's calls to itself are
 * not, which is why a strace test stands beside this.
 *
 * The report is one line on stderr, "rt_guard: malloc() on thread NAME"; the
 * SIGABRT that follows lets the runtime name the node.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))
#define IN_EXEC_TLS __attribute__((tls_model("initial-exec")))

PUBLIC void hr_guard_enter(int allow_fd);
PUBLIC void hr_guard_leave(void);

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t m);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);
extern void __libc_free(void *p);

enum region { OUTSIDE, INSIDE, INSIDE_FD };
static _Thread_local enum region region IN_EXEC_TLS;

/* Raw: the interposed write() must not see our own report. */
static long
raw_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long rc;

	__asm__ volatile("syscall"
			 : "=a"(rc)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return rc;
}

static size_t
append(char *line, size_t at, size_t size, const char *text)
{
	while (*text && at + 1 < size)
		line[at++] = *text++;
	return at;
}

static void
caught(const char *call)
{
	char line[160], name[16] = "";
	size_t n = 0;

	region = OUTSIDE;
	raw_syscall(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0);
	n = append(line, n, sizeof line, "rt_guard: ");
	n = append(line, n, sizeof line, call);
	n = append(line, n, sizeof line, "() on thread ");
	n = append(line, n, sizeof line, name);
	n = append(line, n, sizeof line, "\n");
	raw_syscall(SYS_write, STDERR_FILENO, (long)line, (long)n, 0, 0, 0);
	abort();
}

static inline void
never(const char *call)
{
	if (region != OUTSIDE)
		caught(call);
}

static inline void
fd_only(const char *call)
{
	if (region == INSIDE)
		caught(call);
}

void
hr_guard_enter(int allow_fd)
{
	region = allow_fd ? INSIDE_FD : INSIDE;
}

void
hr_guard_leave(void)
{
	region = OUTSIDE;
}

/* ---- heap --------------------------------------------------------------- */

PUBLIC void *
malloc(size_t n)
{
	never("malloc");
	return __libc_malloc(n);
}

PUBLIC void *
calloc(size_t n, size_t m)
{
	never("calloc");
	return __libc_calloc(n, m);
}

PUBLIC void *
realloc(void *p, size_t n)
{
	never("realloc");
	return __libc_realloc(p, n);
}

PUBLIC void
free(void *p)
{
	never("free");
	__libc_free(p);
}

PUBLIC void *
aligned_alloc(size_t align, size_t n)
{
	never("aligned_alloc");
	return __libc_memalign(align, n);
}

PUBLIC int
posix_memalign(void **out, size_t align, size_t n)
{
	never("posix_memalign");
	*out = __libc_memalign(align, n);
	return *out ? 0 : ENOMEM;
}

/* ---- everything else is looked up at its first use ------------------------ */

/* A function pointer cannot come out of void * in ISO C; this is the way POSIX gives. */
#define NEXT(ret, name, types, args)                                                               \
	do {                                                                                       \
		static ret(*next) types;                                                           \
		void *sym;                                                                         \
		if (!next) {                                                                       \
			sym = dlsym(RTLD_NEXT, #name);                                             \
			memcpy(&next, &sym, sizeof next);                                          \
		}                                                                                  \
		return next args;                                                                  \
	} while (0)

#define NEVER(ret, name, params, types, args)                                                      \
	PUBLIC ret name params                                                                     \
	{                                                                                          \
		never(#name);                                                                      \
		NEXT(ret, name, types, args);                                                      \
	}

#define FD_ONLY(ret, name, params, types, args)                                                    \
	PUBLIC ret name params                                                                     \
	{                                                                                          \
		fd_only(#name);                                                                    \
		NEXT(ret, name, types, args);                                                      \
	}

#define T(...) (__VA_ARGS__)

NEVER(int, pthread_mutex_lock, T(pthread_mutex_t *m), T(pthread_mutex_t *), T(m))
NEVER(int, pthread_cond_wait, T(pthread_cond_t *c, pthread_mutex_t *m),
      T(pthread_cond_t *, pthread_mutex_t *), T(c, m))
NEVER(int, pthread_cond_timedwait,
      T(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t),
      T(pthread_cond_t *, pthread_mutex_t *, const struct timespec *), T(c, m, t))
NEVER(int, pthread_cond_signal, T(pthread_cond_t *c), T(pthread_cond_t *), T(c))
NEVER(int, pthread_create, T(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg),
      T(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *), T(t, a, fn, arg))
NEVER(int, nanosleep, T(const struct timespec *t, struct timespec *left),
      T(const struct timespec *, struct timespec *), T(t, left))
NEVER(int, clock_nanosleep,
      T(clockid_t c, int flags, const struct timespec *t, struct timespec *left),
      T(clockid_t, int, const struct timespec *, struct timespec *), T(c, flags, t, left))
NEVER(int, usleep, T(useconds_t us), T(useconds_t), T(us))
NEVER(int, sched_yield, T(void), T(void), T())
NEVER(int, close, T(int fd), T(int), T(fd))
NEVER(int, munmap, T(void *p, size_t n), T(void *, size_t), T(p, n))
NEVER(void *, mmap, T(void *p, size_t n, int prot, int flags, int fd, off_t at),
      T(void *, size_t, int, int, int, off_t), T(p, n, prot, flags, fd, at))
NEVER(int, fsync, T(int fd), T(int), T(fd))

FD_ONLY(ssize_t, read, T(int fd, void *p, size_t n), T(int, void *, size_t), T(fd, p, n))
FD_ONLY(ssize_t, write, T(int fd, const void *p, size_t n), T(int, const void *, size_t),
	T(fd, p, n))
FD_ONLY(ssize_t, recv, T(int fd, void *p, size_t n, int flags), T(int, void *, size_t, int),
	T(fd, p, n, flags))
FD_ONLY(ssize_t, recvmsg, T(int fd, struct msghdr *m, int flags), T(int, struct msghdr *, int),
	T(fd, m, flags))
FD_ONLY(int, recvmmsg, T(int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *t),
	T(int, struct mmsghdr *, unsigned, int, struct timespec *), T(fd, m, n, flags, t))
FD_ONLY(ssize_t, send, T(int fd, const void *p, size_t n, int flags),
	T(int, const void *, size_t, int), T(fd, p, n, flags))
FD_ONLY(ssize_t, sendmsg, T(int fd, const struct msghdr *m, int flags),
	T(int, const struct msghdr *, int), T(fd, m, flags))
FD_ONLY(int, sendmmsg, T(int fd, struct mmsghdr *m, unsigned n, int flags),
	T(int, struct mmsghdr *, unsigned, int), T(fd, m, n, flags))
FD_ONLY(int, poll, T(struct pollfd *f, nfds_t n, int ms), T(struct pollfd *, nfds_t, int),
	T(f, n, ms))
FD_ONLY(int, epoll_wait, T(int ep, struct epoll_event *e, int n, int ms),
	T(int, struct epoll_event *, int, int), T(ep, e, n, ms))
FD_ONLY(int, epoll_pwait2,
	T(int ep, struct epoll_event *e, int n, const struct timespec *t, const sigset_t *s),
	T(int, struct epoll_event *, int, const struct timespec *, const sigset_t *),
	T(ep, e, n, t, s))

/* ---- variadic ones -------------------------------------------------------- */

static mode_t
mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

#define OPEN(name)                                                                                 \
	PUBLIC int name(const char *path, int flags, ...)                                          \
	{                                                                                          \
		va_list args;                                                                      \
		mode_t mode;                                                                       \
		never(#name);                                                                      \
		va_start(args, flags);                                                             \
		mode = mode_of(flags, args);                                                       \
		va_end(args);                                                                      \
		NEXT(int, name, T(const char *, int, mode_t), T(path, flags, mode));               \
	}

OPEN(open)
OPEN(open64)

PUBLIC int
openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	never("openat");
	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	NEXT(int, openat, T(int, const char *, int, mode_t), T(dir, path, flags, mode));
}

/* The transport's futex calls come this way. */
PUBLIC long
syscall(long nr, ...)
{
	va_list args;
	long a[6], rc;

	if (region != OUTSIDE)
		caught(nr == SYS_futex ? "futex" : "syscall");
	va_start(args, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	rc = raw_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (rc < 0 && rc > -4096) {
		errno = (int)-rc;
		return -1;
	}
	return rc;
}
