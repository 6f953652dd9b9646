#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pairs.sh - every acquire and release of HoloMQ has a letter, a partner and a row.
#
# For each letter in executor/holomq/src: both ends stand in the source, both in
# docs/memory-model.md, and a mutation that weakens each stands in tests/model (R8 is
# the kernel's and cannot be weakened).  No letter stands in the document alone.  Every
# acquire or release access in the source has a letter above it.
set -eu
root=${1:?usage: pairs.sh <source folder>}
source_dir=$root/executor/holomq/src
document=$root/docs/memory-model.md
fail=0

complain()
{
	echo "pairs: $*" >&2
	fail=1
}

# Where an access stands its letter is followed by a colon or a comma.
letters_at() { grep -ohE '\<[AR][0-9]+[:,]' "$@" | tr -d ':,' | sort -u; }
letters_in() { grep -ohwE '[AR][0-9]+' "$@" | sort -u; }

in_source=$(letters_in "$source_dir"/*.c "$source_dir"/*.h)
at_access=$(letters_at "$source_dir"/*.c "$source_dir"/*.h)
in_document=$(letters_in "$document")
in_models=$(grep -ohE '"[AR][0-9]+ relaxed' "$root"/tests/model/*_model.c | tr -d '"' |
	cut -d' ' -f1 | sort -u)
[ -n "$in_source" ] || complain "no letters in $source_dir"

for letter in $in_source; do
	number=${letter#?}
	for end in A$number R$number; do
		echo "$at_access" | grep -qx "$end" || complain "$letter: no $end in the source"
		echo "$in_document" | grep -qx "$end" || complain "$end is not in memory-model.md"
		[ "$end" = R8 ] || echo "$in_models" | grep -qx "$end" ||
			complain "$end: no model weakens it"
	done
done
for letter in $in_document; do
	echo "$in_source" | grep -qx "$letter" || complain "$letter stands in the document only"
done

# The access and its letter: at most six lines apart, the letter first.
for file in "$source_dir"/*.c; do
	awk -v file="${file##*/}" '
		/[AR][0-9]+[:,]/ { letter = NR }
		/hmq_[a-z]+_(acquire|release)_u/ && NR - letter > 6 {
			printf "pairs: %s:%d: an ordered access without a letter\n", file, NR
			bad = 1
		}
		END { exit bad }' "$file" >&2 || fail=1
done
exit $fail
