#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_cases.sh TOOL FOLDER: what the tool prints for each case is <case>.expected, byte for byte.
# A case is <name>.yaml, run alone, or <name>.args with the whole command line; where both exist the
# args come behind the file.  With UPDATE=1 the expected texts are written instead.
tool=$1
cd "$2" || exit 1
wrong=0
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
for expected in *.expected; do
	name=${expected%.expected}
	set --
	[ -f "$name.yaml" ] && set -- "$name.yaml"
	[ -f "$name.args" ] && set -- "$@" $(cat "$name.args")
	"$tool" "$@" >"$out" 2>&1
	echo "exit $?" >>"$out"
	if [ "$UPDATE" = 1 ]; then
		cp "$out" "$expected"
	elif ! diff -u "$expected" "$out"; then
		echo "case $name differs"
		wrong=$((wrong + 1))
	fi
done
[ "$wrong" = 0 ]
