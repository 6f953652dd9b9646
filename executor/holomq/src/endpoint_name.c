/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_name.c - the socket in its folder: who may have a name.
 *
 * A socket file outlives the process that made it; connect() tells the dead
 * (ECONNREFUSED) from the living, whatever pid namespace or user they are of.
 * Looking and replacing is one step for everybody else: it happens under a lock of
 * the folder itself, which leaves no file behind and goes with the process that holds
 * it.  The socket listens before it gets its name, so a name that is there was alive.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "endpoint.h"

#define TMP_SUFFIX ".tmp"

int64_t
hmq_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int
hmq_left_ms(int64_t deadline_ns)
{
	int64_t left;

	if (deadline_ns == INT64_MAX)
		return -1;
	left = deadline_ns - hmq_now_ns();
	if (left <= 0)
		return 0;
	left = (left + 999999) / 1000000;
	return left < INT32_MAX ? (int)left : INT32_MAX;
}

int
hmq_name_check(const char *name, struct hmq_error *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";
	size_t bytes = name ? strlen(name) : 0;

	if (bytes < 1 || bytes > HMQ_MAX_NAME)
		return hmq_fail(err, EINVAL, "endpoint name: wanted 1 to %u characters, found %zu",
				HMQ_MAX_NAME, bytes);
	if (name[0] == '.' || strspn(name, allowed) != bytes)
		return hmq_fail(err, EINVAL,
				"endpoint name '%s': wanted a-z A-Z 0-9 . _ -, no dot in front",
				name);
	return 0;
}

/* A path into out; 0 or -ENAMETOOLONG. */
static int
path_of(struct sockaddr_un *un, const char *dir, const char *front, const char *leaf,
	const char *back)
{
	char path[2 * sizeof(un->sun_path)]; /* room to see that it is too long */
	int n = snprintf(path, sizeof(path), "%s/%s%s%s", dir, front, leaf, back);

	un->sun_family = AF_UNIX;
	if (n <= 0 || (size_t)n >= sizeof(un->sun_path))
		return -ENAMETOOLONG;
	memcpy(un->sun_path, path, (size_t)n + 1);
	return 0;
}

int
hmq_address_of(struct hmq_address *out, const char *dir, const char *name, struct hmq_error *err)
{
	struct sockaddr_un longest;

	memset(out, 0, sizeof(*out));
	(void)snprintf(out->leaf, sizeof(out->leaf), "%s" HMQ_SUFFIX, name);
	if (path_of(&longest, dir, ".", out->leaf, TMP_SUFFIX) ||
	    path_of(&out->un, dir, "", out->leaf, ""))
		return hmq_fail(err, ENAMETOOLONG,
				"endpoint %s: the folder's path is too long: a socket's has %zu "
				"bytes at most",
				name, sizeof(out->un.sun_path) - 1);
	(void)snprintf(out->dir, sizeof(out->dir), "%s", dir);
	return 0;
}

/* ---- the folder ------------------------------------------------------------------------- */

/* Somebody else's folder could be exchanged under our feet. */
static int
check_folder(int fd, const char *dir, struct hmq_error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return hmq_fail(err, errno, "%s: %s", dir, strerrordesc_np(errno));
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return hmq_fail(err, EPERM, "%s belongs to user %u, this process is of user %u",
				dir, (unsigned)st.st_uid, (unsigned)geteuid());
	if ((st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX))
		return hmq_fail(err, EPERM, "%s can be written by everybody (mode %03o)", dir,
				(unsigned)(st.st_mode & 0777));
	return 0;
}

static int
lock(int fd, const char *dir, int64_t deadline_ns, struct hmq_error *err)
{
	const struct timespec pause = { 0, 1000000 };

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return hmq_fail(err, errno, "%s: no lock: %s", dir, strerrordesc_np(errno));
		if (hmq_now_ns() >= deadline_ns)
			return hmq_fail(err, ETIMEDOUT,
					"%s: locked by another process that is taking a name", dir);
		nanosleep(&pause, NULL);
	}
	return 0;
}

int
hmq_folder_lock(const char *dir, int64_t deadline_ns, struct hmq_error *err)
{
	int fd, rc;

	if (mkdir(dir, 0700) && errno != EEXIST)
		return hmq_fail(err, errno, "%s cannot be made: %s", dir, strerrordesc_np(errno));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return hmq_fail(err, errno, "%s: %s", dir, strerrordesc_np(errno));
	rc = check_folder(fd, dir, err);
	if (!rc)
		rc = lock(fd, dir, deadline_ns, err);
	if (rc) {
		close(fd);
		return rc;
	}
	return fd;
}

/* ---- names ------------------------------------------------------------------------------ */

int
hmq_name_connect(const struct sockaddr_un *un)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int code;

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)un, sizeof(*un)) == 0)
		return fd;
	code = errno;
	close(fd);
	return -code;
}

/* Under the lock: may this name be taken?  0, or why not. */
static int
may_take(const struct hmq_address *at, struct hmq_error *err)
{
	struct stat st;
	int fd;

	if (lstat(at->un.sun_path, &st))
		return errno == ENOENT ? 0
				       : hmq_fail(err, errno, "%s: %s", at->un.sun_path,
						  strerrordesc_np(errno));
	if (!S_ISSOCK(st.st_mode))
		return hmq_fail(err, EEXIST, "%s is in the way and is no socket", at->un.sun_path);
	fd = hmq_name_connect(&at->un);
	if (fd == -ECONNREFUSED || fd == -ENOENT)
		return 0;
	if (fd >= 0)
		close(fd);
	if (fd == -EACCES)
		return hmq_fail(err, EACCES, "%s is another user's", at->un.sun_path);
	/* Connected, or too busy to accept, or of another type: somebody lives there. */
	return hmq_fail(err, EADDRINUSE, "%s: a live endpoint has this name", at->un.sun_path);
}

/* Listen under a name nobody looks for, then move it where everybody looks. */
static int
listen_at(const struct hmq_address *at, uint32_t flags, struct stat *id)
{
	struct sockaddr_un tmp;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int code;

	if (fd < 0)
		return -errno;
	path_of(&tmp, at->dir, ".", at->leaf, TMP_SUFFIX);
	if (unlink(tmp.sun_path) && errno != ENOENT)
		goto close_fd;
	if (bind(fd, (const struct sockaddr *)&tmp, sizeof(tmp)))
		goto close_fd;
	if (chmod(tmp.sun_path, flags & HMQ_ENDPOINT_ANY_USER ? 0666 : 0600) ||
	    listen(fd, SOMAXCONN) || lstat(tmp.sun_path, id) ||
	    rename(tmp.sun_path, at->un.sun_path)) {
		code = errno;
		unlink(tmp.sun_path);
		errno = code;
		goto close_fd;
	}
	return fd;

close_fd:
	code = errno;
	close(fd);
	return -code;
}

int
hmq_name_take(const struct hmq_address *at, uint32_t flags, struct stat *id, struct hmq_error *err)
{
	int folder = hmq_folder_lock(at->dir, hmq_now_ns() + HMQ_LOCK_NS, err);
	int rc;

	if (folder < 0)
		return folder;
	rc = may_take(at, err);
	if (!rc) {
		rc = listen_at(at, flags, id);
		if (rc < 0)
			hmq_fail(err, -rc, "%s: %s", at->un.sun_path, strerrordesc_np(-rc));
	}
	close(folder);
	return rc;
}

void
hmq_name_release(const struct hmq_address *at, const struct stat *id)
{
	struct stat st;
	int folder = hmq_folder_lock(at->dir, hmq_now_ns() + HMQ_LOCK_NS, NULL);

	/* Without the lock it is left to who takes the name next. */
	if (folder < 0)
		return;
	if (lstat(at->un.sun_path, &st) == 0 && st.st_dev == id->st_dev && st.st_ino == id->st_ino)
		unlink(at->un.sun_path);
	close(folder);
}

/* ---- cleaning --------------------------------------------------------------------------- */

static int
has_end(const char *name, const char *end)
{
	size_t n = strlen(name), e = strlen(end);

	return n > e && strcmp(name + n - e, end) == 0;
}

static int
is_dead_socket(const char *dir, const char *leaf, struct sockaddr_un *un)
{
	struct stat st;
	int fd;

	if (!has_end(leaf, HMQ_SUFFIX) && !has_end(leaf, HMQ_SUFFIX TMP_SUFFIX))
		return 0;
	if (path_of(un, dir, "", leaf, "") || lstat(un->sun_path, &st) || !S_ISSOCK(st.st_mode))
		return 0;
	fd = hmq_name_connect(un);
	if (fd >= 0)
		close(fd);
	return fd == -ECONNREFUSED;
}

int32_t
hmq_endpoint_clean(const char *dir, void (*said)(const char *name, void *arg), void *arg,
		   struct hmq_error *err)
{
	struct sockaddr_un un;
	const struct dirent *e;
	struct stat st;
	int32_t n = 0;
	int folder;
	DIR *d;

	if (stat(dir, &st))
		return errno == ENOENT
			       ? 0
			       : hmq_fail(err, errno, "%s: %s", dir, strerrordesc_np(errno));
	folder = hmq_folder_lock(dir, hmq_now_ns() + HMQ_LOCK_NS, err);
	if (folder < 0)
		return folder;
	d = opendir(dir);
	while (d && (e = readdir(d)) != NULL) {
		if (!is_dead_socket(dir, e->d_name, &un) || unlink(un.sun_path))
			continue;
		n++;
		if (said)
			said(e->d_name, arg);
	}
	if (d)
		closedir(d);
	close(folder);
	return n;
}
