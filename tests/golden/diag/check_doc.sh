#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_doc.sh TOOL DOCUMENT: every ```yaml block of a document parses without a fault.  A block with
# `holorun:` is a graph; any other is an overlay to the first graph of the document.
tool=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
awk -v dir="$dir" '
	/^```yaml$/ { inside = 1; n++; file = sprintf("%s/%03d.yaml", dir, n); next }
	/^```$/ { inside = 0 }
	inside { print > file }
' "$2" || exit 1
cd "$dir" || exit 1
wrong=0
for block in *.yaml; do
	[ -f "$block" ] || { echo "no example in $2"; exit 1; }
	if grep -q '^holorun:' "$block"; then
		"$tool" "$block" || wrong=1
	else
		"$tool" 001.yaml -f "$block" || wrong=1
	fi
done
exit $wrong
