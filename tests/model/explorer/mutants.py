#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every mutation of HoloMQ's sources must be caught by the explorer.

usage: mutants.py CONFIG.json [NAME..]

Two kinds.  Orders: each access that carries a letter (`A1:` in a comment above it) is
made relaxed, one at a time; no list to keep, a new letter is weakened by itself.
Bounds and steps: the table MUTANTS below, each a piece of source that must stand there
exactly once.  One file is compiled anew, linked with the objects of the rest, and its
scenarios must end with a bug.  Fails if a mutant survives, no longer applies, or if a
letter of docs/memory-model.md has none.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

# The kernel's own end of a pair.
NOT_OURS = {"R8"}

# Sockets and files: no scenario runs them.
NOT_EXPLORED = ("endpoint", "catalog")

# Orders that no honest end needs, and why they stand all the same.
MAY_SURVIVE = {
    "A6 relaxed in hmq_out_let_in":
        "whoever is let in was found gone before, which ordered all it wrote; only a reader that "
        "wrote nonsense and lived on is ordered here",
}

# name, file, what stands there, what is put in its place, scenarios that must notice.
MUTANTS = [
    ("room of one too many", "publish.c",
     "n > o->depth - (uint32_t)(o->tail - o->head))",
     "n > 1 + o->depth - (uint32_t)(o->tail - o->head))", "cells spsc drop-newest"),
    ("room of one too many after a look", "publish.c",
     "	room = o->depth - (uint32_t)(o->tail - o->head);",
     "	room = 1 + o->depth - (uint32_t)(o->tail - o->head);", "drop-newest"),
    ("the bytes of one reader are not looked at", "pool.c",
     "state[slot] != HMQ_SLOT_OUT ||\n		    hmq_load_acquire_u8(hmq_held_of(held, slot)) != 0)",
     "state[slot] != HMQ_SLOT_OUT)", "reopen"),
    ("a slot of one reader that is not out is taken back", "pool.c",
     "state[slot] != HMQ_SLOT_OUT ||\n", "", "reopen"),
    ("hmq_room promises one too many", "writer.c",
     "		room = o->depth - (uint32_t)(o->tail - o->head);",
     "		room = 1 + o->depth - (uint32_t)(o->tail - o->head);", "cells spsc"),
    ("a hint is trusted without a look at the column", "pool.c",
     " || !is_unheld(w, slot))", ")", "one-slot fan-out"),
    ("only the first reader's byte is looked at", "pool.c",
     "for (uint32_t i = 0; i < w->n_readers; i++) {\n\t\tconst struct hmq_out",
     "for (uint32_t i = 0; i < 1; i++) {\n\t\tconst struct hmq_out", "one-slot fan-out"),
    ("a slot that is not out is taken back", "pool.c",
     "if (w->state[slot] != HMQ_SLOT_OUT || ", "if (", "one-slot fan-out any-order batch"),
    ("a byte is not cleared on release", "reader.c",
     "hmq_store_release_u8(hmq_held_of(held, slot), 0);", "(void)held;", "spsc"),
    ("hints are given before the bytes are cleared", "reader.c",
     "	for (uint32_t i = 0; i < n; i++) {\n		uint32_t slot = (uint32_t)rx[i].slot;\n",
     "	hmq_store_release_u64(&r->row->free_tail, r->free_tail + n);\n"
     "	for (uint32_t i = 0; i < n; i++) {\n		uint32_t slot = (uint32_t)rx[i].slot;\n",
     "slots spsc"),
    ("the hint goes to the next cell", "reader.c",
     "&ring[(tail + i) & mask]", "&ring[(tail + i + 1) & mask]", "slots spsc"),
    ("a look takes a full queue for nonsense", "reader.c",
     "if (queued > r->depth ||", "if (queued >= r->depth ||", "cells spsc"),
    ("a look at one message too many", "reader.c",
     "n = (uint32_t)(there - skip);", "n = (uint32_t)(there - skip) + 1;", "batch"),
    ("the cell after the right one, for one reader", "publish.c",
     "(tail + i) & mask", "(tail + i + 1) & mask", "spsc batch"),
    ("the cell after the right one, for several", "publish.c",
     "(tail + k) & mask", "(tail + k + 1) & mask", "fan-out one-slot"),
    ("the newest message is taken for another one", "reader.c",
     "if (n == 1 && r->newest == hmq_newest(at, newest))", "if (n == 1)", "spsc"),
    ("the newest word has the turn of the message before, for one reader", "publish.c",
     "hmq_newest(tail + n - 1, tx[n - 1].slot));\n	/* R1: publishes",
     "hmq_newest(tail + n - 2, tx[n - 1].slot));\n	/* R1: publishes", "spsc"),
    ("the newest word has the turn of the message before, for several", "publish.c",
     "hmq_newest(tail + n - 1, tx[n - 1].slot));\n	/* R1: as in",
     "hmq_newest(tail + n - 2, tx[n - 1].slot));\n	/* R1: as in", "fan-out"),
    ("a byte is not set on publish, for one reader", "publish.c",
     "hmq_store_relaxed_u8(hmq_held_of(held, slot), 1);\n		hmq_store_relaxed_u32(&cell[(tail + i)",
     "hmq_store_relaxed_u32(&cell[(tail + i)", "reopen"),
    ("a byte is not set on publish, for several", "publish.c",
     "hmq_store_relaxed_u8(hmq_held_of(held, slot), 1);\n		hmq_store_relaxed_u32(&cell[(tail + k)",
     "hmq_store_relaxed_u32(&cell[(tail + k)", "fan-out one-slot"),
    ("no wake for the only reader", "publish.c",
     "	hmq_wake_if_any(&o->peer);\n	make_ready(w);", "	make_ready(w);", "sleep"),
    ("no wake for several readers", "publish.c",
     "		hmq_wake(&o->peer);\n	}\n}", "		(void)o;\n	}\n}", "sleep-fan-out"),
    ("the only reader is woken before the messages are there", "publish.c",
     "	hmq_store_release_u64(&o->row->tail, tail + n);\n	hmq_wake_if_any(&o->peer);",
     "	hmq_wake_if_any(&o->peer);\n	hmq_store_release_u64(&o->row->tail, tail + n);", "sleep"),
    ("one wake for readers of different workers", "writer.c",
     "while (w->out[first].peer.waiter != w->out[i].peer.waiter)", "while (0)",
     "sleep-fan-out"),
    ("the end of stream wakes nobody", "writer.c",
     "		hmq_wake(&w->out[i].peer);", "		(void)w;", "sleep-end"),
    ("a reader that closes wakes nobody", "reader.c",
     "r->ticket | HMQ_TICKET_CLOSED);\n	hmq_wake_if_any(&r->peer);",
     "r->ticket | HMQ_TICKET_CLOSED);", "sleep-close"),
    ("take wakes nobody", "reader.c",
     "	give_back(r, rx, n);\n	move_head(r, n);\n	hmq_wake_if_any(&r->peer);",
     "	give_back(r, rx, n);\n	move_head(r, n);", "sleep-writer"),
    ("take wakes before the cursor moves", "reader.c",
     "	give_back(r, rx, n);\n	move_head(r, n);\n	hmq_wake_if_any(&r->peer);",
     "	give_back(r, rx, n);\n	hmq_wake_if_any(&r->peer);\n	move_head(r, n);",
     "sleep-writer"),
    ("the waker looks instead of adding", "wait.c",
     "hmq_add_release_u32(&peer->waiter->word, ONE_WAKE)",
     "hmq_load_relaxed_u32(&peer->waiter->word)", "sleep"),
    ("the sleeper looks instead of announcing", "wait.c",
     "return hmq_or_acquire_u32(&w->word, SLEEPS) | SLEEPS;",
     "return hmq_load_acquire_u32(&w->word);", "sleep"),
    ("the add does not change what the sleeper sleeps on", "wait.c",
     "#define ONE_WAKE 2u", "#define ONE_WAKE 0u", "sleep"),
    ("no second look before sleeping", "scenario_wait.c",
     "if (is_there()) {\n\t\t\thmq_waiter_cancel(w);\n\t\t\treturn;\n\t\t}",
     "", "sleep sleep-both"),
    ("the end is not looked at", "reader.c",
     "if (hmq_load_acquire_u32(&r->row->ended) != 0)",
     "if (hmq_load_acquire_u32(&r->row->ended) > 1)", "end"),
    ("the cursor is read before the reason to stop", "reader.c",
     "	uint32_t state = hmq_reader_peer(r);\n\n",
     "	uint32_t early = r->stop ? 0 : hmq_queued(r);\n	uint32_t state = hmq_reader_peer(r);\n\n"
     "	if (!r->stop)\n		return early > 0 ? HMQ_OPEN : state;\n", "end"),
    ("ended and then dead is lost", "reader.c",
     "		state = HMQ_ENDED;\n	return state;",
     "		state = state == HMQ_LOST ? HMQ_LOST : HMQ_ENDED;\n	return state;",
     "writer-dies"),
    ("death is not looked at by the reader", "reader.c",
     "if (r->peer.life && hmq_life_is_dead(r->peer.life))",
     "if (r->peer.life && !r->peer.life)", "writer-dies-open"),
    ("closed is not looked at", "writer.c",
     "if (ticket == (o->ticket | HMQ_TICKET_CLOSED))\n",
     "if (ticket == (o->ticket | HMQ_TICKET_CLOSED))\n		return 0;\n	else if (0)\n", "close"),
    ("death is not looked at by the writer", "writer.c",
     "return o->peer.life && hmq_life_is_dead(o->peer.life);",
     "return o->peer.life && !o->peer.life;", "reader-dies"),
    ("the living are dead", "peer.c",
     "& FUTEX_OWNER_DIED) != 0;", "& FUTEX_OWNER_DIED) == 0;", "reader-dies writer-dies"),
    ("the row of a reader that is gone is not zeroed", "writer.c",
     "hmq_store_relaxed_u8(hmq_held_of(o->held, slot), 0);", "(void)slot;", "rejoin-fan-out"),
    ("the next reader starts where the former one was", "writer.c",
     "	hmq_store_relaxed_u64(&o->row->head, o->tail);", "	;", "rejoin"),
    ("the next reader does not wait to be let in", "reader.c",
     "if (hmq_load_acquire_u32(&r->row->accepted) != r->ticket)",
     "if (hmq_load_acquire_u32(&r->row->accepted) != r->ticket && 0)", "rejoin"),
    ("the next reader is let in before the former one's account is settled", "publish.c",
     "if (!hmq_out_is_gone(w, o))\n		return 1;", "o->fate = HMQ_FATE_CLOSED;",
     "rejoin rejoin-close"),
    ("a new ticket is not looked at", "writer.c",
     "else if (ticket != o->ticket)", "else if (0)", "rejoin"),
    ("what was queued at the end is not counted", "writer.c",
     "		o->left += missed;", "		o->left += 0;", "close"),
    ("what was queued at the death is not counted", "writer.c",
     "		o->abandoned += missed;", "		o->abandoned += 0;", "reader-dies"),
    ("a dropped message keeps its slot", "claim.c",
     "hmq_store_relaxed_u8(hmq_held_of(o->held, slot), 0);", ";", "oldest"),
    ("a dropped message is not counted", "claim.c",
     "	o->lost += to - from;", "	o->lost += 0;", "oldest"),
    ("dropped though the reader was faster", "claim.c",
     "if (hmq_cas_acquire_u64(&o->row->head, &seen, goal)) {",
     "if (hmq_cas_acquire_u64(&o->row->head, &seen, goal) || 1) {", "oldest"),
    ("the reader claims by a store", "claim.c",
     "if (!hmq_cas_release_u64(&r->row->head, &head, head + n))\n			continue;",
     "hmq_store_release_u64(&r->row->head, head + n);", "oldest"),
    ("the reader reads head before tail", "claim.c",
     "	*head = hmq_load_relaxed_u64(&r->row->head);\n	*queued",
     "	*queued", None),
    ("one message too few is dropped", "claim.c",
     "uint64_t goal = o->tail + n - o->depth;", "uint64_t goal = o->tail + n - o->depth - 1;",
     "oldest oldest-batch"),
    ("a claim counts one message less", "claim.c",
     "		r->n_mine += n;", "		r->n_mine += n - 1;", "oldest"),
    ("claims are forgotten when it closes", "reader.c",
     "hmq_store_relaxed_u64(&r->row->returned, r->n_mine);",
     "hmq_store_relaxed_u64(&r->row->returned, 0);", "oldest-close"),
]

LETTER = re.compile(r"\b([AR]\d+)(?=[:,])")
ORDERED = re.compile(r"\bhmq_[a-z]+_(acquire|release|acq_rel)_u\d+(?=\()")


def weak_header(atomic):
    """A relaxed twin of every ordered function of atomic.h, named xp_weak_*."""
    out = ["#include \"atomic.h\""]
    for match in re.finditer(r"static inline [^{;]*?\b(hmq_\w+)\([^)]*\)\s*\{.*?\n\}", atomic,
                             re.S):
        if not ORDERED.match(match[1] + "("):
            continue
        text = match[0].replace(match[1], "xp_weak_" + match[1])
        out.append(re.sub(r"__ATOMIC_(ACQUIRE|RELEASE|ACQ_REL)", "__ATOMIC_RELAXED", text))
    return "\n".join(out) + "\n"


def function_at(lines, at):
    """The name of the function around a line."""
    for i in range(at, -1, -1):
        match = re.match(r"(\w+)\(", lines[i])
        if match:
            return match[1]
    return "?"


def order_mutants(folder):
    """One mutant an ordered access: its letters, and the text with that access relaxed."""
    found = []
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".c") or name.startswith(NOT_EXPLORED):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            lines = f.read().split("\n")
        letters, pending = [], 0
        for i, line in enumerate(lines):
            here = LETTER.findall(line)
            if here:
                letters = here if i - pending > 1 else letters + here
                pending = i
            match = ORDERED.search(line)
            if not match:
                continue
            if not letters or i - pending > 6:
                continue  # pairs.sh complains about it
            changed = lines[:]
            changed[i] = line[:match.start()] + "xp_weak_" + line[match.start():]
            where = function_at(lines, i)
            found.append({"letters": letters[:1], "file": name, "text": "\n".join(changed),
                          "name": f"{letters[0]} relaxed in {where}", "scenarios": None})
            if len(letters) > 1:
                letters = letters[1:]
    return found


def step_mutants(config, problems):
    found = []
    for name, file, old, new, scenarios in MUTANTS:
        folder = config["scenarios"] if file.startswith("scenario_") else config["sources"]
        try:
            with open(os.path.join(folder, file), encoding="utf-8") as f:
                text = f.read()
        except FileNotFoundError:
            problems.append(f"{name}: no file {file}")
            continue
        if text.count(old) != 1:
            problems.append(f"{name}: found {text.count(old)} times in {file}, wanted once")
            continue
        found.append({"letters": [], "file": file, "text": text.replace(old, new), "name": name,
                      "scenarios": scenarios})
    return found


def build(config, mutant, folder, weak):
    """Compile the changed file, link it in the place of the original; the program."""
    stem = mutant["file"][:-2]
    source = os.path.join(folder, mutant["file"])
    program = os.path.join(folder, "explore")
    with open(source, "w", encoding="utf-8") as f:
        f.write(mutant["text"])
    subprocess.run(config["cc"] + config["flags"] + ["-g0", "-include", weak, "-w", "-c", source,
                                                     "-o", source + ".o"], check=True,
                   stderr=subprocess.PIPE)
    objects = [o for o in config["objects"] if os.path.basename(o) != stem + ".c.o"]
    if len(objects) != len(config["objects"]) - 1:
        raise RuntimeError(f"{mutant['file']}: its object is not in the list")
    subprocess.run(config["cc"] + objects + [source + ".o", "-o", program] + config["link"],
                   check=True, stderr=subprocess.PIPE)
    return program


def try_one(config, mutant, weak):
    """(caught, what was seen)"""
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = build(config, mutant, folder, weak)
        except subprocess.CalledProcessError as e:
            return False, "does not build: " + e.stderr.decode()[-400:]
        names = mutant["scenarios"].split() if mutant["scenarios"] else []
        out = subprocess.run([program] + names, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             timeout=100, check=False)
    if out.returncode == 0:
        return False, "survived"
    text = out.stdout.decode(errors="replace")
    for line in text.split("\n"):
        if line.startswith("BAD"):
            return out.returncode == 1, line.split()[1] + ": " + line.rsplit(": ", 1)[-1]
    assertion = re.search(r"Assertion `(.*?)' failed", text)
    return assertion is not None, assertion[1] if assertion else "crashed: " + text[-200:]


def document_letters(path):
    with open(path, encoding="utf-8") as f:
        return set(re.findall(r"\b[AR]\d+\b", f.read()))


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        config = json.load(f)
    problems = []
    mutants = order_mutants(config["sources"]) + step_mutants(config, problems)
    if sys.argv[2:]:
        mutants = [m for m in mutants if any(w in m["name"] for w in sys.argv[2:])]
    weakened = set()
    with tempfile.TemporaryDirectory() as folder:
        weak = os.path.join(folder, "weak.h")
        with open(os.path.join(config["sources"], "atomic.h"), encoding="utf-8") as f:
            text = f.read()
        with open(weak, "w", encoding="utf-8") as f:
            f.write(weak_header(text))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda m: try_one(config, m, weak), mutants))
    for mutant, (caught, seen) in zip(mutants, results):
        if seen == "survived" and mutant["name"] in MAY_SURVIVE:
            print(f"     {mutant['file']:18} {mutant['name']:56} may survive")
            continue
        if mutant["name"] in MAY_SURVIVE:
            problems.append(f"{mutant['name']}: is caught after all, or does not build")
        print(f"{'' if caught else 'BAD':4} {mutant['file']:18} {mutant['name']:56} {seen}")
        if caught:
            weakened.update(mutant["letters"])
        else:
            problems.append(f"{mutant['name']}: {seen.splitlines()[0]}")
    if not sys.argv[2:]:
        for letter in sorted(document_letters(config["document"]) - weakened - NOT_OURS):
            problems.append(f"{letter} of the document: no mutation of it was caught")
    for problem in problems:
        print("mutants:", problem)
    print(f"{len(mutants)} mutants, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
