// SPDX-License-Identifier: Apache-2.0
/*
 * embed.c - the rooms behind holorun/holorun.h.
 *
 * Thin: a session holds an arena and what each room made; every verb checks that
 * its room can be entered and enters it.
 */
#include <holorun/holorun.h>

#include <errno.h>

#include "base/text.h"
#include "report/report.h"

struct holorun {
	struct hr_arena *arena;
	struct hr_diags diags;
	struct hr_load_options load;
	struct hr_plugin_dirs dirs;
	struct hr_strings dir_list, overlays;
	struct hr_setting *settings;
	size_t settings_cap;
	struct hr_doc *doc;
	struct hr_graph *graph;
	struct hr_bound *bound;
	struct hr_machine *machine;
	struct hr_plan *plan;
	struct hr_outcome outcome;
	struct hr_report report;
	bool ran;
};

/* ---- children, life, options ---- */

int
holorun_is_child(int argc, char **argv)
{
	return hr_is_child(argc, argv);
}

int
holorun_child_main(int argc, char **argv)
{
	return hr_child_main(argc, argv, NULL);
}

struct holorun *
holorun_open(void)
{
	struct hr_arena *a = hr_arena_new();
	struct holorun *h = HR_NEW(a, struct holorun);

	h->arena = a;
	hr_diags_init(&h->diags, a);
	return h;
}

void
holorun_close(struct holorun *h)
{
	if (h)
		hr_arena_free(h->arena);
}

void
holorun_plugin_path(struct holorun *h, const char *dir)
{
	hr_strings_add(h->arena, &h->dir_list, hr_strdup(h->arena, dir));
	h->dirs.dir = h->dir_list.item;
	h->dirs.n = (uint32_t)h->dir_list.n;
}

void
holorun_overlay(struct holorun *h, const char *file)
{
	hr_strings_add(h->arena, &h->overlays, hr_strdup(h->arena, file));
	h->load.overlay = h->overlays.item;
	h->load.n_overlays = (uint32_t)h->overlays.n;
}

void
holorun_knob(struct holorun *h, const char *name, const char *value)
{
	size_t n = h->load.n_settings;
	struct hr_setting *s = HR_PUSH(h->arena, h->settings, n, h->settings_cap);

	*s = (struct hr_setting){ .name = hr_strdup(h->arena, name),
				  .value = hr_strdup(h->arena, value) };
	h->load.setting = h->settings;
	h->load.n_settings = (uint32_t)n;
}

void
holorun_preset(struct holorun *h, const char *name)
{
	h->load.preset = hr_strdup(h->arena, name);
}

/* ---- the verbs ---- */

static int
verdict(const struct holorun *h)
{
	return h->diags.n_errors ? (int)h->diags.exit_code : 0;
}

int
holorun_load(struct holorun *h, const char *file)
{
	if (h->doc || h->diags.n_errors)
		return -EINVAL;
	h->load.file = hr_strdup(h->arena, file);
	h->doc = hr_load(h->arena, &h->load, &h->diags);
	return verdict(h);
}

int
holorun_validate(struct holorun *h)
{
	if (!h->doc || h->graph || h->diags.n_errors)
		return -EINVAL;
	h->graph = hr_validate(h->arena, h->doc, &h->load, &h->diags);
	return verdict(h);
}

static void
bind_graph(struct holorun *h)
{
	const struct hr_plugins *plugins;

	if (hr_probe(h->arena, h->graph, &h->dirs, &h->diags))
		return;
	plugins = hr_plugins_load(h->arena, h->graph, &h->dirs);
	h->bound = hr_bind(h->arena, h->graph, plugins, &h->diags);
}

int
holorun_plan(struct holorun *h, const char *topology)
{
	if (!h->graph || h->bound || h->diags.n_errors)
		return -EINVAL;
	bind_graph(h);
	if (!h->diags.n_errors)
		h->machine = hr_machine_load(h->arena, topology, &h->diags);
	if (!h->diags.n_errors)
		h->plan = hr_plan_make(h->arena, h->bound, h->machine, &h->diags);
	return verdict(h);
}

/* A caller compiled against an older header has fewer members. */
#define HAS(opt, member)                                                                           \
	((opt) &&                                                                                  \
	 (opt)->size >= offsetof(struct holorun_run_options, member) + sizeof((opt)->member))

int
holorun_run(struct holorun *h, const struct holorun_run_options *opt)
{
	struct hr_run_options run = {
		.load = &h->load,
		.dirs = &h->dirs,
		.doc = h->doc,
		.log_level = HOP_LOG_INFO,
		.in_process = HAS(opt, in_process) && opt->in_process,
		.duration_ns = HAS(opt, duration_ns) ? opt->duration_ns : 0,
		.count = HAS(opt, count) ? opt->count : 0,
		.stall_timeout_ns = HAS(opt, stall_timeout_ns) ? opt->stall_timeout_ns : 0,
		.stop_grace_ns = HAS(opt, stop_grace_ns) ? opt->stop_grace_ns : 0,
		.say = HAS(opt, say) ? opt->say : NULL,
	};

	if (!h->plan || h->ran || h->diags.n_errors || !h->machine->live)
		return -EINVAL;
	if (hr_run(h->arena, h->plan, &run, &h->outcome, &h->diags))
		return verdict(h);
	h->ran = true;
	h->report = (struct hr_report){ .plan = h->plan, .outcome = &h->outcome, .load = &h->load };
	return hr_report_check(h->arena, &h->report, &h->outcome);
}

const char *
holorun_report(struct holorun *h, uint32_t format)
{
	if (h->ran) {
		switch (format) {
		case HOLORUN_TEXT:
			return hr_report_text(h->arena, &h->report);
		case HOLORUN_JSON:
			return hr_report_json(h->arena, &h->report);
		case HOLORUN_CSV:
			return hr_report_csv(h->arena, &h->report);
		default:
			return NULL;
		}
	}
	if (!h->plan)
		return NULL;
	if (format == HOLORUN_TEXT)
		return hr_plan_text(h->arena, h->plan);
	return format == HOLORUN_JSON ? hr_plan_json(h->arena, h->plan) : NULL;
}

const char *
holorun_diagnostics(struct holorun *h)
{
	const char *said = hr_diags_text(&h->diags, h->arena, false);
	const char *incidents = h->ran ? hr_report_incidents(h->arena, &h->report) : NULL;

	return incidents ? hr_printf(h->arena, "%s%s", said, incidents) : said;
}
