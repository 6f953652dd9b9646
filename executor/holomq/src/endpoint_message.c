/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_message.c - one packet with descriptors, and who sent it.
 *
 * Nothing blocks.  Whatever arrives wrong - too short, too long, too many
 * descriptors, cut control data - is refused whole and its descriptors are closed:
 * a stranger cannot make us keep anything.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "endpoint.h"

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(HMQ_MAX_FDS * sizeof(int))];
};

int
hmq_packet_send(int sock, const void *data, size_t bytes, const int *fds, uint32_t n_fds)
{
	union control control = { 0 };
	struct iovec iov = { (void *)(uintptr_t)data, bytes };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (n_fds > 0) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, n_fds * sizeof(int));
	}
	do
		n = sendmsg(sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* Collect what came; more than fits is closed by the kernel, which sets MSG_CTRUNC. */
static uint32_t
take_fds(struct msghdr *msg, int *fds)
{
	uint32_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t bytes = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof(int) <= bytes && n < HMQ_MAX_FDS; at += sizeof(int))
			memcpy(&fds[n++], CMSG_DATA(c) + at, sizeof(int));
	}
	return n;
}

int
hmq_packet_receive(int sock, void *data, size_t bytes, int *fds, uint32_t *n_fds)
{
	union control control = { 0 };
	struct iovec iov = { data, bytes };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	ssize_t n;

	*n_fds = 0;
	do
		n = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	*n_fds = take_fds(&msg, fds);
	if (n == (ssize_t)bytes && !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return 0;
	hmq_fds_close(fds, *n_fds);
	*n_fds = 0;
	return n == 0 ? -ECONNRESET : -EBADMSG;
}

void
hmq_fds_close(int *fds, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

int
hmq_packet_may(int sock, uint32_t flags, struct hmq_error *err)
{
	struct ucred who = { 0 };
	socklen_t size = sizeof(who);

	if (flags & HMQ_ENDPOINT_ANY_USER)
		return 0;
	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &who, &size))
		return hmq_fail(err, errno, "the peer's identity: %s", strerrordesc_np(errno));
	if (who.uid == geteuid() || who.uid == 0)
		return 0;
	return hmq_fail(err, EACCES, "the peer (pid %d) is of user %u, this process of user %u",
			(int)who.pid, (unsigned)who.uid, (unsigned)geteuid());
}

int
hmq_is_eventfd(int fd)
{
	struct stat st;

	/* Files, pipes, sockets and devices have a type; what the kernel makes without a file
	 * system has none, and of that nothing blocks or kills who writes eight bytes. */
	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == 0;
}
