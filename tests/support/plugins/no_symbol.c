/* SPDX-License-Identifier: Apache-2.0 */
/* no_symbol.c - a shared object that is no plugin: it exports something else. */
#include <holorun/op.h>

HOP_PUBLIC extern const int32_t hop_plugin_v0;
const int32_t hop_plugin_v0 = 0;
