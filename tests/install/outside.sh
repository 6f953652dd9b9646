#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The example programs, built against an installed HoloMQ with find_package and with pkg-config.
# usage: outside.sh SOURCE BUILD CC
set -euo pipefail
source=$1 build=$2 cc=$3

command -v pkg-config >/dev/null || { echo "pkg-config is missing" >&2; exit 77; }
if grep -q '^HOLORUN_SANITIZE:.*=.' "$build/CMakeCache.txt"; then
	echo "a library with sanitizers is not for installing" >&2
	exit 77
fi
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
prefix=$room/prefix

# The libraries and the tool; plugins and the rest are not asked for here.
cmake --build "$build" --target holomq holomq_shared holomq_tool >"$room/build.log" 2>&1 ||
	{ cat "$room/build.log" >&2; exit 1; }
cmake --install "$build/executor/holomq" --prefix "$prefix" >"$room/install.log" 2>&1 ||
	{ cat "$room/install.log" >&2; exit 1; }
[[ -f $prefix/include/holomq/holomq.h ]] || { echo "no header was installed" >&2; exit 1; }

libdir=$(dirname "$(find "$prefix" -name libholomq.so)")
export LD_LIBRARY_PATH=$libdir PKG_CONFIG_PATH=$libdir/pkgconfig

# pkg-config: the package is found where it was installed and nowhere else.
cp -r "$source/graphs/examples/outside" "$room/make"
sed -i "s|^prefix=.*|prefix=$prefix|" "$libdir/pkgconfig/holomq.pc"
make -s -C "$room/make" CC="$cc" CFLAGS="-O1 -Wall -Wextra -Werror"

cmake -S "$source/graphs/examples/outside" -B "$room/cmake" -DCMAKE_C_COMPILER="$cc" \
	-DCMAKE_PREFIX_PATH="$prefix" >"$room/cmake.log" 2>&1 || { cat "$room/cmake.log" >&2; exit 1; }
cmake --build "$room/cmake" >"$room/cmake.log" 2>&1 || { cat "$room/cmake.log" >&2; exit 1; }

# One of each build; the subscriber first, so that it waits for the publisher.
for pair in "make cmake" "cmake make"; do
	read -r first second <<<"$pair"
	"$room/$first/subscriber" "$room/sockets" numbers >"$room/subscriber.txt" &
	subscriber=$!
	"$room/$second/publisher" "$room/sockets" numbers 10000 >"$room/publisher.txt"
	wait "$subscriber"
	grep -qx 'published 10000' "$room/publisher.txt"
	grep -qx 'received 10000 from 0, sum 4999500.0: end of stream' "$room/subscriber.txt" ||
		{ cat "$room/subscriber.txt" >&2; exit 1; }
done

# Another contract is refused with the field and both values.
"$room/make/publisher" "$room/sockets" numbers 1 >/dev/null 2>&1 &
publisher=$!
sed 's/c.depth = 64/c.depth = 32/' "$room/make/reading.h" >"$room/reading.h"
cp "$room/reading.h" "$room/make/reading.h"
make -s -C "$room/make" CC="$cc" subscriber
if "$room/make/subscriber" "$room/sockets" numbers 2>"$room/refused.txt"; then
	echo "a subscriber with another contract was let in" >&2
	exit 1
fi
grep -q 'depth: the exporter has 64, the importer wants 32' "$room/refused.txt" ||
	{ cat "$room/refused.txt" >&2; exit 1; }
"$room/cmake/subscriber" "$room/sockets" numbers >/dev/null
wait "$publisher"
"$prefix/bin/holomq" clean --dir "$room/sockets" >/dev/null
echo "both builds of both examples work against $prefix"
