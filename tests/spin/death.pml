/* SPDX-License-Identifier: Apache-2.0 */
/*
 * death.pml - either end is killed at any step, or is slow for as long as it likes.
 *
 * The kernel marks the dead end's robust mutex after its last step; only that decides.
 * A writer asleep for room looks every 5 ms, modelled as a sleep that may end at any
 * time; a reader asleep is woken by whoever watches the process, after the mark.
 * Safe: "lost" comes after the last published message, and nobody living is taken for
 * dead.  Live: the survivor hears of the death and comes to its end.
 */
/* mutants: NO_LOOK WAKE_BEFORE_MARK CURSOR_BEFORE_MARK TIME_DECIDES NO_WATCHER NO_RECHECK */

#define CAP 1
#define MESSAGES 3

byte tail, head;
byte word;             /* the reader's event count, bit 0: sleeps; the writer only times out */
bool asleep;           /* the reader, in the kernel */
bool kill_reader, kill_writer;
bool reader_gone, writer_gone;     /* the last step was done */
bool reader_marked, writer_marked; /* OWNER_DIED */
bool writer_ended;                 /* end of stream */
bool reader_over, writer_over;     /* came to an end by itself */

active proctype killer()
{
	if
	:: kill_reader = true
	:: kill_writer = true
	:: skip
	fi
}

/* The kernel, and the supervisor behind its pidfd. */
active proctype watcher()
{
	if
	:: writer_gone ->
#ifdef WAKE_BEFORE_MARK
		d_step { word = (word + 2) % 16; asleep = false };
		writer_marked = true
#else
		writer_marked = true;
#ifndef NO_WATCHER
		d_step { word = (word + 2) % 16; asleep = false }
#endif
#endif
	:: reader_gone -> reader_marked = true
	fi
}

active proctype writer()
{
	byte old;

	{
		do
		:: tail == MESSAGES -> break
		:: tail < MESSAGES && tail - head < CAP ->
publish:		tail++;
			d_step { old = word; word = (word + 2) % 16 };
			if
			:: old & 1 -> asleep = false
			:: else
			fi
		:: tail < MESSAGES && tail - head == CAP ->
			/* no room: is the reader there? */
			if
			:: reader_marked -> goto abandon
			:: else
			fi;
#ifdef TIME_DECIDES
			if
			:: assert(!(!reader_gone && !reader_over)); goto abandon
			:: tail - head < CAP
			fi
#else
#ifdef NO_LOOK
			tail - head < CAP /* sleeps until it is woken for room */
#else
			skip /* sleeps until there is room or 5 ms have passed */
#endif
#endif
		od;
		writer_ended = true;
		d_step { word = (word + 2) % 16; asleep = false };
abandon:
		assert(writer_ended || reader_marked);
		writer_over = true
	} unless { kill_writer && !writer_over };
	if
	:: !writer_over -> writer_gone = true
	:: else
	fi
}

active proctype reader()
{
	byte seen, at;
	bool is_dead;

	{
		do
		:: head < tail -> head++
		:: head == tail ->
			/* hmq_reader_state: first the reason to stop, then the cursor */
#ifdef CURSOR_BEFORE_MARK
			at = tail;
			is_dead = writer_marked
#else
			is_dead = writer_marked;
			at = tail
#endif
			;
			if
			:: at == head && is_dead ->
				assert(tail == head); /* lost, after the last message */
				break
			:: at == head && !is_dead && writer_ended && tail == head -> break
			:: else ->
				d_step { seen = word | 1; word = seen };
#ifndef NO_RECHECK
				if
				:: head < tail || writer_ended || writer_marked ->
					d_step { word = word & 14 }
				:: else ->
#endif
					d_step { if :: word == seen -> asleep = true :: else fi };
					!asleep;
					d_step { word = word & 14 }
#ifndef NO_RECHECK
				fi
#endif
			fi
		od;
		reader_over = true
	} unless { kill_reader && !reader_over };
	if
	:: !reader_over -> reader_gone = true
	:: else
	fi
}

ltl live { <> ((reader_over || kill_reader) && (writer_over || kill_writer)) }
