/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - the program outside: a child process that exports or imports "x".
 *
 * It does what its script says, letter by letter, and tells after each one that it
 * is done; the parent may go on calling the op meanwhile.  A child never asserts:
 * it leaves with the number of the letter that went wrong, or 0.
 */
#ifndef PEER_H
#define PEER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <cmocka.h>

#include <holomq/holomq.h>

struct place { /* a folder of its own */
	char dir[64];
	int n_fds; /* before */
};

void place_open(struct place *p);
/* Checks that no file and no descriptor is left. */
void place_close(struct place *p);

struct peer {
	pid_t pid;
	int go;   /* a byte: the next letter */
	int said; /* a byte: it is done */
	int done; /* letters told */
};

/* Complete contract: "kind", u8[8], 8 bytes, depth 4, block. */
struct hmq_contract peer_contract(void);

/*
 * Letters.  With the name: `E` export (seats 1), `w` until a peer is there, `u` answer
 * callers until the next letter.  Without: `I` import.
 * As the writer `p` publish the next number (0, 1, ..).  As the reader `r` wait for and take a
 * message, which has to be the next number; `R` any number; `e` wait for the end of the stream,
 * `l` for the loss of the writer.  `x` close, `k` die by SIGKILL.
 */
void peer_start(struct peer *peer, const struct place *p, uint32_t role,
		const struct hmq_contract *contract, const char *script);
/* Start the next letter without waiting. */
void peer_go(struct peer *peer);
/* Has it told since?  Does not wait. */
int peer_has_done(struct peer *peer);
/* Start the next letter and wait until it is done. */
void peer_do(struct peer *peer);
/* Let the rest of the script run and reap: 0, 1 + the letter that failed, 256 + signal. */
int peer_end(struct peer *peer);

#endif /* PEER_H */
