/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakeup.pml - both ends of a channel sleep and wake each other for ever.
 *
 * The event count of executor/holomq/src/wait.c under sequential consistency: bit 0
 * of a word announces sleep, the rest counts wakes; futex_wait compares and sleeps in
 * one step.  Live: under weak fairness messages never stop flowing.  What orders the
 * accesses need is the explorer's business (tests/model), not seen here.
 */
/* mutants: NO_RECHECK LOOK_NOT_ADD WAKE_FIRST NO_WAKE_ON_RELEASE COUNT_NOTHING */

#define CAP 1

byte queued;            /* messages in the ring */
byte word[2];           /* 0: the reader's, 1: the writer's; the count wraps at 8 */
bool asleep[2];         /* in the kernel */
bool flows;             /* turns with every message taken */

inline wake(who)
{
#ifdef LOOK_NOT_ADD
	atomic { old = word[who] };
#else
#ifdef COUNT_NOTHING
	atomic { old = word[who]; word[who] = word[who] | 0 };
#else
	atomic { old = word[who]; word[who] = (word[who] + 2) % 16 };
#endif
#endif
	if
	:: old & 1 -> asleep[who] = false /* FUTEX_WAKE */
	:: else
	fi
}

inline wait_until(who, condition)
{
	do
	:: condition -> break
	:: else ->
		atomic { seen = word[who] | 1; word[who] = seen };
#ifndef NO_RECHECK
		if
		:: condition ->
			atomic { word[who] = word[who] & 14 };
			break
		:: else
		fi;
#endif
		atomic { if :: word[who] == seen -> asleep[who] = true :: else fi };
		!asleep[who];
		atomic { word[who] = word[who] & 14 }
	od
}

active proctype reader()
{
	byte old, seen;

	do
	:: wait_until(0, queued > 0);
		atomic { queued--; flows = !flows };
#ifndef NO_WAKE_ON_RELEASE
		wake(1)
#endif
	od
}

active proctype writer()
{
	byte old, seen;

	do
	:: wait_until(1, queued < CAP);
#ifdef WAKE_FIRST
		wake(0);
		queued++
#else
		queued++;
		wake(0)
#endif
	od
}

ltl live { ([]<> flows) && ([]<> !flows) }
