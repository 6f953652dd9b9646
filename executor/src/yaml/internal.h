/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - what the files of this layer share, and nobody else sees.
 */
#ifndef HR_YAML_INTERNAL_H
#define HR_YAML_INTERNAL_H

#include <stdbool.h>
#include <yaml.h>

#include "yaml/doc.h"

/* A place between two marks of libyaml. */
struct hr_span hr_yaml_span(const struct hr_file *f, const yaml_mark_t *from,
			    const yaml_mark_t *to);
/* False with one diagnostic if the bytes are no text that YAML could hold. */
bool hr_yaml_check_bytes(const struct hr_file *f, struct hr_diags *d);
/* True with a diagnostic if a line is indented by a tab or an odd space. */
bool hr_yaml_check_indent(const struct hr_file *f, uint32_t line, struct hr_diags *d);
/* Says in users' words why the parser stopped. */
void hr_yaml_report(const struct hr_file *f, const yaml_parser_t *p, struct hr_arena *a,
		    struct hr_diags *d);

#endif
