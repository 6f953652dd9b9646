/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shutdown.pml - the ladder of a stop: ask, wait out the grace, force, kill, reap.
 *
 * A source and a sink in processes of their own, a supervisor, the kernel.  A call of
 * an op may never return, the source may sleep for an event that never comes, the user
 * asks once or twice, the supervisor itself may be killed.  Time is abstract: the grace
 * ends only when somebody hangs, for who does not hang ends within it.  Safe: a child
 * is killed only when it hangs or when its supervisor died, and a clean end has lost no
 * message.  Live: after a stop, or after the death of the supervisor, every child ends,
 * and a living supervisor reaps them all.
 */
/* mutants: NO_KILL NO_WAKE_AT_STOP WAKE_BEFORE_STOP NO_PDEATHSIG END_BEFORE_LAST NO_SECOND_LOOK */

#define CAP 1

mtype = { RUNS, HANGS, ENDED, KILLED };

mtype source = RUNS, sink = RUNS;
byte queued;
bool ended;           /* end of stream of the source */
byte asked, stop;     /* 1: sources end; 2: everybody, now */
bool asleep;          /* the source, in the kernel */
byte word;            /* its event count; the count wraps at 4 */
byte reaped;
bool supervisor_dead, lost;

#define over(x) (x == ENDED || x == KILLED)

inline wake_source()
{
	atomic { word = (word + 2) % 8; asleep = false }
}

active proctype world()
{
	asked = 1;
	if
	:: asked = 2
	:: atomic {
		supervisor_dead = true;
#ifndef NO_PDEATHSIG
		if :: !over(source) -> source = KILLED :: else fi;
		if :: !over(sink) -> sink = KILLED :: else fi
#endif
	}
	:: skip
	fi
}

active proctype source_process()
{
	byte seen;

	{
		do
		:: stop > 0 -> break
		:: stop == 0 && queued < CAP -> queued++
		:: stop == 0 -> /* for room, or for an event of the outside world */
			atomic { seen = word | 1; word = seen };
			if
#ifndef NO_SECOND_LOOK
			:: stop > 0 -> skip
#endif
			:: else ->
				atomic { if :: word == seen -> asleep = true :: else fi };
				!asleep
			fi;
			atomic { word = word & 6 }
		:: source = HANGS; false
		od;
#ifdef END_BEFORE_LAST
		ended = true;
		if
		:: queued < CAP -> queued++
		:: else
		fi;
#endif
		atomic {
			ended = true;
			if :: source == RUNS -> source = ENDED :: else fi
		}
	} unless { source == KILLED }
}

active proctype sink_process()
{
	bool last;

	{
		do
		:: stop < 2 && queued > 0 -> queued--; wake_source()
		:: stop == 2 -> break
		:: stop < 2 && queued == 0 ->
			last = ended || source == KILLED; /* the reason first, then the queue */
			if
			:: last && queued == 0 -> break
			:: else
			fi
		:: sink = HANGS; false
		od;
		if
		:: sink == RUNS -> sink = ENDED
		:: else
		fi
	} unless { sink == KILLED }
}

active proctype supervisor()
{
	{
		do
		:: asked > 0 && stop == 0 ->
#ifdef WAKE_BEFORE_STOP
			wake_source();
			stop = 1
#else
			stop = 1;
#ifndef NO_WAKE_AT_STOP
			wake_source()
#endif
#endif
		:: asked == 2 && stop == 1 ->
			stop = 2
#ifndef NO_KILL
		:: stop > 0 && source == HANGS -> source = KILLED /* the grace is over */
		:: stop > 0 && sink == HANGS -> sink = KILLED
#endif
		:: reaped == 0 && over(source) && over(sink) ->
			reaped = 2;
			lost = stop < 2 && source == ENDED && sink == ENDED && queued > 0;
			break
		od
	} unless { supervisor_dead }
}

ltl live {
	(<> (over(source) && over(sink))) && (<> (supervisor_dead || reaped == 2)) && ([] !lost)
}
