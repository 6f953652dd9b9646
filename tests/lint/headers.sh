#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each header compiles alone: public ones as C11 and C++14, the others as C17.
# usage: headers.sh ROOT CC CXX
cc=$2 cxx=$3
. "$(dirname "$0")/common.sh"
include="-Iexecutor/src -Iexecutor/abi -Iexecutor/holomq/include -Iexecutor/holomq/src
	-Iexecutor/include -Ikernels/include"
warn="-Wall -Wextra -Wpedantic -Werror -fsyntax-only"
rc=0

public() {
	$cc -x c -std=c11 $warn $include "$1" || rc=1
	# Kernels may use a flexible array, which C++ compilers know as an extension.
	$cxx -x c++ -std=c++14 $warn $([[ $1 != kernels/* ]] || echo -Wno-pedantic) $include "$1" ||
		rc=1
}
for h in $(files 'executor/abi/*.h' 'executor/holomq/include/*.h' 'executor/include/*.h' \
	'kernels/include/*.h'); do
	public "$h"
done
for h in $(files 'executor/src/*.h' 'executor/holomq/src/*.h' 'plugins/*.h' 'kernels/*.h'); do
	[[ $h != kernels/include/* ]] || continue
	# A header is no main file, so what it defines and does not use is fine.
	$cc -x c -std=c17 -D_GNU_SOURCE $warn -Wno-unused-function -Wno-unused-variable \
		-Wno-unused-const-variable $include -I"$(dirname "$h")" "$h" || rc=1
done
exit $rc
