#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Man pages that mandoc has nothing to say about.  usage: man.sh ROOT
. "$(dirname "$0")/common.sh"
need mandoc
mapfile -t pages < <(files 'docs/man/*')
((${#pages[@]})) || { echo "there are no man pages"; exit 1; }
# The pages are not from an operating system: its name in the footer is ours to give.
if mandoc -T lint -W warning -I os=holorun "${pages[@]}" | grep .; then
	exit 1
fi
echo "${#pages[@]} pages"
