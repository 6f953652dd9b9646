/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - dlopens plugins and turns every way this fails into a sentence.
 *
 * RTLD_LOCAL: two plugins may carry the same global symbols.  A plugin is never
 * unloaded, so its tables and texts live as long as the process.  A file named
 * twice, or by a symbolic link, is loaded once.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plugin/device.h"
#include "plugin/elf.h"
#include "plugin/find.h"
#include "plugin/load.h"
#include "plugin/stage.h"
#include "plugin/verify.h"

enum { NEWEST_GUESS = 9 }; /* hop_plugin_v2 .. v9 are looked for to explain a missing v1 */

static void
refuse(struct hr_plugin *p, uint32_t code, const char *error, const char *cure)
{
	p->code = code;
	p->error = error;
	p->cure = cure;
}

/* Where the dynamic linker looks: the plugin's own run path, then the process's list. */
static const char *
library_dirs(struct hr_arena *a, const struct hr_elf *elf)
{
	Dl_serinfo *info = NULL;
	Dl_serinfo ask;
	struct hr_text t;
	void *self = dlopen(NULL, RTLD_NOW);

	hr_text_init(&t, a);
	if (elf->runpath)
		hr_text_puts(&t, elf->runpath);
	if (self && !dlinfo(self, RTLD_DI_SERINFOSIZE, &ask)) {
		info = hr_alloc(a, ask.dls_size);
		info->dls_size = ask.dls_size;
		info->dls_cnt = ask.dls_cnt;
		if (dlinfo(self, RTLD_DI_SERINFO, info))
			info->dls_cnt = 0;
	}
	for (unsigned i = 0; info && i < info->dls_cnt; i++)
		hr_text_add(&t, "%s%s", t.len ? ":" : "", info->dls_serpath[i].dls_name);
	if (self)
		(void)dlclose(self);
	return t.s;
}

static const char *
ldd_line(struct hr_arena *a, const char *path)
{
	return hr_printf(a, "to see all it needs: ldd '%s'", path);
}

/* "NAME: cannot open shared object file: ..." is how glibc names a library it did not find. */
static bool
missing_library(struct hr_arena *a, const char *path, const char *text, const struct hr_elf *elf,
		struct hr_plugin *p)
{
	const char *tail = strstr(text, ": cannot open shared object file: ");
	const char *name;

	if (!tail || strncmp(text, path, (size_t)(tail - text)) == 0)
		return false;
	name = hr_strndup(a, text, (size_t)(tail - text));
	refuse(p, 304, hr_printf(a, "it needs the library '%s', which is missing", name),
	       hr_printf(a, "searched in %s\n%s", library_dirs(a, elf), ldd_line(a, path)));
	if (hr_device_library(name))
		p->no_device = hr_printf(a, "the driver library %s is not installed here", name);
	return true;
}

static bool
undefined_symbol(struct hr_arena *a, const char *path, const char *text, struct hr_plugin *p)
{
	static const char words[] = "undefined symbol: ";
	const char *at = strstr(text, words);
	const char *name;

	if (!at)
		return false;
	at += sizeof words - 1;
	name = hr_strndup(a, at, strcspn(at, " ,\t"));
	refuse(p, 305, hr_printf(a, "it uses the symbol '%s', which no library defines", name),
	       hr_printf(a, "define it, or link the library that has it; to see all: ldd -r '%s'",
			 path));
	return true;
}

static void
explain_dlerror(struct hr_arena *a, const char *path, const char *text, const struct hr_elf *elf,
		struct hr_plugin *p)
{
	size_t n = strlen(path);

	if (missing_library(a, path, text, elf, p) || undefined_symbol(a, path, text, p))
		return;
	/* The path is said already. */
	if (strncmp(text, path, n) == 0 && strncmp(text + n, ": ", 2) == 0)
		text += n + 2;
	refuse(p, 303, hr_printf(a, "the dynamic linker says: %s", text), ldd_line(a, path));
}

/* The symbol in this very object: dlsym also looks into the libraries it needs. */
static const void *
own_symbol(void *lib, const char *name)
{
	const void *sym = dlsym(lib, name);
	struct link_map *map = NULL;
	Dl_info info;

	if (!sym || dlinfo(lib, RTLD_DI_LINKMAP, &map) || !dladdr(sym, &info))
		return NULL;
	return strcmp(info.dli_fname, map->l_name) == 0 ? sym : NULL;
}

static const struct hop_plugin *
find_table(struct hr_arena *a, void *lib, struct hr_plugin *p)
{
	const struct hop_plugin *table = own_symbol(lib, "hop_plugin_v1");

	for (int v = HOP_ABI_MAJOR + 1; v <= NEWEST_GUESS && !table; v++) {
		if (!own_symbol(lib, hr_printf(a, "hop_plugin_v%d", v)))
			continue;
		refuse(p, 306,
		       hr_printf(a, "it was built for operator ABI %d; this holorun has %d.%d", v,
				 HOP_ABI_MAJOR, HOP_ABI_MINOR),
		       "use a holorun of that version, or build the plugin with this one's "
		       "holorun/op.h");
		return NULL;
	}
	if (!table)
		refuse(p, 303, "it exports no symbol 'hop_plugin_v1', so it is no holorun plugin",
		       "a plugin defines 'const struct hop_plugin hop_plugin_v1' with default "
		       "visibility");
	return table;
}

static void
take_table(struct hr_arena *a, const struct hop_plugin *raw, struct hr_plugin *p)
{
	const struct hop_plugin *copy = NULL;
	const char *why = hr_plugin_check_abi(a, raw);

	if (why) {
		refuse(p, 306, why,
		       "build it again with this holorun's op.h; none of its ops was called "
		       "(its ELF constructors may have run)");
		return;
	}
	why = hr_plugin_check(a, raw, &copy);
	if (why) {
		refuse(p, 307, hr_printf(a, "its tables are wrong: %s", why),
		       "this is the plugin author's to correct");
		return;
	}
	p->table = copy;
	for (uint32_t i = 0; i < copy->n_ops && !p->no_device; i++)
		p->no_device = hr_device_missing(a, copy->ops[i]->device);
}

void
hr_plugin_load_file(struct hr_arena *a, const char *path, struct hr_plugin *p)
{
	struct hr_elf elf = hr_elf_read(a, path);
	const struct hop_plugin *raw;
	void *lib;

	p->path = path;
	p->build_id = elf.build_id;
	if (elf.refused) {
		refuse(p, 303, elf.refused, NULL);
		return;
	}
	hr_stage_enter("loading it (ELF constructors)", path, NULL, NULL);
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	hr_stage_leave();
	if (!lib) {
		/* NOLINTNEXTLINE(concurrency-mt-unsafe): control code, one thread */
		explain_dlerror(a, path, dlerror(), &elf, p);
		return;
	}
	raw = find_table(a, lib, p);
	if (raw) {
		hr_stage_enter("reading its tables", path, NULL, NULL);
		take_table(a, raw, p);
		hr_stage_leave();
	}
}

/* The plugin that was loaded from the same file already. */
static struct hr_plugin *
same_file(struct hr_plugins *all, const char *path)
{
	struct stat mine, other;

	if (stat(path, &mine))
		return NULL;
	for (uint32_t i = 0; i < all->n; i++)
		if (all->at[i].path && !stat(all->at[i].path, &other) &&
		    other.st_dev == mine.st_dev && other.st_ino == mine.st_ino)
			return &all->at[i];
	return NULL;
}

static void
load_named(struct hr_arena *a, const struct hr_graph_plugin *gp, const struct hr_plugin_dirs *dirs,
	   struct hr_plugins *all)
{
	struct hr_found f = hr_plugin_find(a, gp->path.text, gp->dir, dirs);
	struct hr_plugin *twin = f.path ? same_file(all, f.path) : NULL;
	struct hr_plugin *p = &all->at[all->n];

	if (twin) {
		twin->optional = twin->optional && gp->optional;
		return;
	}
	all->n++;
	p->shown = gp->path.text;
	p->at = gp->path.at;
	p->optional = gp->optional;
	p->build_id = "";
	if (f.path)
		hr_plugin_load_file(a, f.path, p);
	else
		refuse(p, 302, f.error, f.cure);
}

static struct hr_plugins *
new_plugins(struct hr_arena *a, uint32_t room, const struct hr_plugin_dirs *dirs)
{
	struct hr_plugins *all = HR_NEW(a, struct hr_plugins);

	all->at = HR_ARRAY(a, room ? room : 1, struct hr_plugin);
	all->n_dirs = dirs->n;
	all->dir = dirs->dir;
	return all;
}

struct hr_plugins *
hr_plugins_load(struct hr_arena *a, const struct hr_graph *g, const struct hr_plugin_dirs *dirs)
{
	struct hr_plugins *all = new_plugins(a, g->n_plugins, dirs);

	for (uint32_t i = 0; i < g->n_plugins; i++)
		load_named(a, &g->plugin[i], dirs, all);
	return all;
}

struct hr_plugins *
hr_plugins_scan(struct hr_arena *a, const struct hr_plugin_dirs *dirs)
{
	struct hr_strings files = { 0 };
	struct hr_plugins *all;

	for (uint32_t i = 0; i < dirs->n; i++) {
		struct hr_strings some = hr_plugin_files(a, dirs->dir[i]);

		for (size_t k = 0; k < some.n; k++)
			hr_strings_add(a, &files, some.item[k]);
	}
	all = new_plugins(a, (uint32_t)files.n, dirs);
	for (size_t i = 0; i < files.n; i++) {
		const char *real = hr_real_path(a, files.item[i]);
		struct hr_plugin *p = &all->at[all->n];

		if (real && !same_file(all, real)) {
			all->n++;
			p->shown = files.item[i];
			p->build_id = "";
			hr_plugin_load_file(a, real, p);
		}
	}
	return all;
}
