#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh - compare what libholomq promises with the files in holomq/.
#
#   symbols  the exported names are those of symbols.txt, no more, no fewer
#   layout   what lies in shared memory, by pahole; 77 (skipped) without it
#   types    the exported functions and their types, by abidiff; 77 without it
#   locked   the functions that hold a locked instruction are those of locked.txt:
#            none that is called per message
#   update   write all four anew
set -eu
what=${1:?usage: check.sh symbols|layout|types|locked|update <library>}
library=${2:?usage: check.sh symbols|layout|types|locked|update <library>}
golden=$(dirname "$0")/holomq
headers=$(dirname "$0")/../../executor/holomq/include

need()
{
	command -v "$1" >/dev/null || {
		echo "$1 is not installed"
		exit 77
	}
}

symbols() { nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort; }

layout()
{
	for name in hmq_shared_head hmq_shared_writer hmq_shared_desc hmq_row hmq_waiter hmq_head; do
		pahole -C "$name" "$library"
	done
}

# abidw's text, without what differs from one folder or line to another, handles opaque.
types()
{
	abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --no-parameter-names \
		--exported-interfaces-only --headers-dir "$headers" --drop-private-types \
		--type-id-style hash "$library"
}

# An xchg with memory is locked without a prefix.
locked()
{
	objdump -d --no-show-raw-insn "$library" | awk '
		/^[0-9a-f]+ <.*>:$/ { name = $2; gsub(/[<>:]/, "", name); sub(/\..*/, "", name) }
		/\tlock / || /\txchg +.*\(/ { print name }' | sort -u
}

differ()
{
	if ! "$1" | diff -u "$golden/$2" -; then
		echo "holomq/$2 says otherwise (- wanted, + found)"
		exit 1
	fi
}

case $what in
symbols) differ symbols symbols.txt ;;
layout) need pahole; differ layout layout.txt ;;
locked) need objdump; [ "$(uname -m)" = x86_64 ] || exit 77; differ locked locked.txt ;;
types)
	need abidiff
	abidiff --no-added-syms --headers-dir2 "$headers" --drop-private-types \
		"$golden/types.abi" "$library" || {
		echo "the types of exported functions differ from holomq/types.abi"
		exit 1
	}
	;;
update)
	mkdir -p "$golden"
	symbols >"$golden/symbols.txt"
	layout >"$golden/layout.txt"
	locked >"$golden/locked.txt"
	types >"$golden/types.abi"
	;;
*) echo "check.sh: unknown check '$what'" >&2; exit 2 ;;
esac
