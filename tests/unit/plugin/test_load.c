/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding and loading real files: every way it fails has its sentence, and one
 * that fails leaves the others usable.
 */
#include "support.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/elf.h"
#include "plugin/find.h"
#include "plugin/load.h"

static struct hr_arena *a;
static char folder[] = "/tmp/holorun-load-XXXXXX";

static int
begin(void **state)
{
	(void)state;
	a = hr_arena_new();
	strcpy(folder, "/tmp/holorun-load-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int
end(void **state)
{
	struct hr_strings files = hr_plugin_files(a, folder);

	(void)state;
	for (size_t i = 0; i < files.n; i++)
		unlink(files.item[i]);
	hr_arena_free(a);
	return rmdir(folder);
}

static const char *
in_folder(const char *name)
{
	return hr_printf(a, "%s/%s", folder, name);
}

static const char *
write_file(const char *name, const void *data, size_t n)
{
	const char *path = in_folder(name);
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	fclose(f);
	return path;
}

static struct hr_plugin
load(const char *path)
{
	struct hr_plugin p = { .shown = path };

	hr_plugin_load_file(a, path, &p);
	return p;
}

static struct hr_plugin
load_test(const char *name)
{
	return load(hr_printf(a, "%s/lib%s.so", TEST_PLUGINS, name));
}

static void
wants(const struct hr_plugin *p, uint32_t code, const char *error, const char *cure)
{
	assert_null(p->table);
	if (p->code != code || !p->error || !strstr(p->error, error))
		fail_msg("wanted E%u '%s', found E%u '%s'", code, error, p->code,
			 p->error ? p->error : "(loaded)");
	if (cure && (!p->cure || !strstr(p->cure, cure)))
		fail_msg("wanted the cure '%s', found '%s'", cure, p->cure ? p->cure : "none");
}

/* ---- loading ---- */

static void
a_good_plugin_is_loaded_with_its_build_id(void **state)
{
	struct hr_plugin p = load_test("testops");

	(void)state;
	assert_null(p.error);
	assert_non_null(p.table);
	assert_string_equal(p.table->name, "testops");
	assert_true(strspn(p.build_id, "0123456789abcdef") == strlen(p.build_id));
	assert_null(p.no_device);
}

static void
a_missing_library_is_named_with_the_ldd_line(void **state)
{
	struct hr_plugin p = load_test("missing_dep");

	(void)state;
	wants(&p, 304, "'libholodep_gone.so'", "ldd '");
	wants(&p, 304, "missing", "libmissing_dep.so'");
	wants(&p, 304, "missing", "searched in ");
}

static void
an_undefined_symbol_is_named(void **state)
{
	struct hr_plugin p = load_test("undefined");

	(void)state;
	wants(&p, 305, "'holo_no_such_function'", "ldd -r");
}

static void
another_abi_is_refused_with_both_versions(void **state)
{
	struct hr_plugin major = load_test("bad_major"), draft = load_test("bad_draft");

	(void)state;
	wants(&major, 306, "operator ABI 2.0; this holorun has 1.0", "constructors may have run");
	wants(&draft, 306, "draft 2 of operator ABI 1.0; this holorun has draft 1", NULL);
}

static void
a_library_without_the_symbol_is_no_plugin(void **state)
{
	struct hr_plugin p = load_test("no_symbol");

	(void)state;
	wants(&p, 303, "no symbol 'hop_plugin_v1'", "visibility");
}

static void
a_wrong_table_is_refused(void **state)
{
	struct hr_plugin p = load_test("corrupt_param_offset_0");

	(void)state;
	wants(&p, 307, "'first' and 'second' overlap", "author");
}

static void
a_refused_plugin_leaves_the_others_usable(void **state)
{
	struct hr_plugin bad = load_test("undefined"), good = load_test("twin_a");

	(void)state;
	assert_non_null(bad.error);
	assert_non_null(good.table);
}

static void
a_cuda_plugin_says_what_is_missing(void **state)
{
	struct hr_plugin p = load_test("cuda_fake");

	(void)state;
	assert_non_null(p.table);
	assert_non_null(p.no_device); /* also with a driver: this version runs no CUDA ops */
}

/* ---- files that are none ---- */

static Elf64_Ehdr
elf_header(void)
{
	Elf64_Ehdr eh = { .e_type = ET_DYN,
			  .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT,
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_ehsize = sizeof eh };

	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = EV_CURRENT;
	return eh;
}

static void
text_and_empty_files_are_no_libraries(void **state)
{
	struct hr_plugin text = load(write_file("libtext.so", "hello, world; more than 16", 26));
	struct hr_plugin empty = load(write_file("libempty.so", "", 0));

	(void)state;
	wants(&text, 303, "not an ELF file", NULL);
	wants(&empty, 303, "the file is empty", NULL);
}

static void
foreign_elf_files_say_what_they_are_for(void **state)
{
	Elf64_Ehdr eh = elf_header();
	struct hr_plugin p;

	(void)state;
	eh.e_machine = EM_AARCH64;
#ifdef __aarch64__
	eh.e_machine = EM_X86_64;
#endif
	p = load(write_file("libforeign.so", &eh, sizeof eh));
	wants(&p, 303, "it was built for ", NULL);
	eh = elf_header();
	eh.e_ident[EI_CLASS] = ELFCLASS32;
	p = load(write_file("lib32.so", &eh, sizeof eh));
	wants(&p, 303, "32-bit", NULL);
	eh = elf_header();
	eh.e_ident[EI_DATA] = ELFDATA2MSB;
	p = load(write_file("libbig.so", &eh, sizeof eh));
	wants(&p, 303, "big-endian", NULL);
}

static void
damaged_elf_files_are_refused_without_a_crash(void **state)
{
	Elf64_Ehdr eh = elf_header();
	struct hr_plugin p;

	(void)state;
	p = load(write_file("libcut.so", &eh, 20));
	wants(&p, 303, "cut off", NULL);
	p = load(write_file("libcuthead.so", &eh, sizeof eh));
	assert_non_null(p.error);
	eh.e_type = ET_REL;
	p = load(write_file("libobject.so", &eh, sizeof eh));
	wants(&p, 303, "no shared library", NULL);
}

static void
wild_offsets_in_an_elf_file_are_not_followed(void **state)
{
	struct {
		Elf64_Ehdr eh;
		Elf64_Phdr ph[3];
	} file = { .eh = elf_header() };
	struct hr_elf elf;

	(void)state;
	file.eh.e_phoff = sizeof file.eh;
	file.eh.e_phnum = 3;
	file.ph[0] = (Elf64_Phdr){ .p_type = PT_DYNAMIC, .p_offset = UINT64_MAX, .p_filesz = 64 };
	file.ph[1] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = 1, .p_filesz = UINT64_MAX };
	file.ph[2] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = UINT64_MAX - 4, .p_filesz = 64 };
	elf = hr_elf_read(a, write_file("libwild.so", &file, sizeof file));
	assert_null(elf.refused);
	assert_int_equal(elf.n_needed, 0);
	assert_string_equal(elf.build_id, "");
	file.eh.e_phoff = UINT64_MAX - 8;
	elf = hr_elf_read(a, write_file("libwild.so", &file, sizeof file));
	assert_null(elf.refused);
}

static void
every_prefix_of_a_plugin_is_read_without_a_crash(void **state)
{
	static char whole[1 << 16];
	FILE *f = fopen(TEST_PLUGINS "/libtwin_a.so", "rb");
	size_t n;

	(void)state;
	assert_non_null(f);
	n = fread(whole, 1, sizeof whole, f);
	fclose(f);
	for (size_t cut = 0; cut < n; cut += 97)
		(void)hr_elf_read(a, write_file("libprefix.so", whole, cut));
}

static void
a_folder_and_an_unreadable_file_are_refused(void **state)
{
	struct hr_elf elf = hr_elf_read(a, folder);

	(void)state;
	assert_string_equal(elf.refused, "it is a folder");
	elf = hr_elf_read(a, in_folder("libnowhere.so"));
	assert_non_null(strstr(elf.refused, "No such file"));
	elf = hr_elf_read(a, "/dev/null");
	assert_string_equal(elf.refused, "it is not a regular file");
}

/* ---- finding ---- */

static struct hr_found
find(const char *name)
{
	const char *dirs[] = { folder, TEST_PLUGINS };
	const struct hr_plugin_dirs d = { dirs, 2 };

	return hr_plugin_find(a, name, TEST_PLUGINS, &d);
}

static void
bare_names_are_searched_in_order(void **state)
{
	(void)state;
	assert_string_equal(find("twin_a").path, TEST_PLUGINS "/libtwin_a.so");
	assert_string_equal(find("libtwin_a.so").path, TEST_PLUGINS "/libtwin_a.so");
	write_file("libtwin_a.so", "x", 1);
	assert_string_equal(find("twin_a").path, in_folder("libtwin_a.so"));
	write_file("plain.so", "x", 1);
	assert_string_equal(find("plain").path, in_folder("plain.so"));
}

static void
paths_start_at_the_folder_of_the_graph(void **state)
{
	(void)state;
	assert_string_equal(find("./libtwin_a.so").path, TEST_PLUGINS "/libtwin_a.so");
	assert_string_equal(find(TEST_PLUGINS "/libtwin_b.so").path, TEST_PLUGINS "/libtwin_b.so");
}

static void
a_wrong_name_proposes_the_nearest_and_says_where_it_looked(void **state)
{
	struct hr_found f = find("twin_q");

	(void)state;
	assert_null(f.path);
	assert_non_null(strstr(f.cure, "did you mean 'twin_"));
	assert_non_null(strstr(f.cure, TEST_PLUGINS));
	f = find("./libtwinn_a.so");
	assert_null(f.path);
	assert_non_null(strstr(f.error, "/libtwinn_a.so'"));
	assert_non_null(strstr(f.cure, "did you mean './libtwin_a.so'?"));
	f = find("");
	assert_non_null(f.error);
	f = find("./");
	assert_non_null(strstr(f.error, "is a folder"));
}

static void
without_a_folder_the_option_is_named(void **state)
{
	const struct hr_plugin_dirs none = { NULL, 0 };
	struct hr_found f = hr_plugin_find(a, "std", "/", &none);

	(void)state;
	assert_null(f.path);
	assert_non_null(strstr(f.cure, "--plugin-path"));
}

static void
names_after_an_at_sign(void **state)
{
	(void)state;
	assert_true(hr_plugin_is_called(a, "/x/libstd.so", "std"));
	assert_true(hr_plugin_is_called(a, "/x/libstd.so", "libstd"));
	assert_true(hr_plugin_is_called(a, "/x/libstd.so", "libstd.so"));
	assert_false(hr_plugin_is_called(a, "/x/libstd.so", "st"));
	assert_false(hr_plugin_is_called(a, "/x/libstd.so", ""));
}

static void
a_folder_is_scanned_and_links_count_once(void **state)
{
	const char *dirs[] = { folder };
	const struct hr_plugin_dirs d = { dirs, 1 };
	struct hr_plugins *all;

	(void)state;
	assert_int_equal(symlink(TEST_PLUGINS "/libtwin_a.so", in_folder("liba.so")), 0);
	assert_int_equal(symlink(TEST_PLUGINS "/libtwin_a.so", in_folder("libb.so")), 0);
	assert_int_equal(symlink(TEST_PLUGINS "/libundefined.so", in_folder("libc.so")), 0);
	all = hr_plugins_scan(a, &d);
	assert_int_equal(all->n, 2);
	assert_non_null(all->at[0].table);
	assert_non_null(all->at[1].error);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_good_plugin_is_loaded_with_its_build_id),
		T(a_missing_library_is_named_with_the_ldd_line),
		T(an_undefined_symbol_is_named),
		T(another_abi_is_refused_with_both_versions),
		T(a_library_without_the_symbol_is_no_plugin),
		T(a_wrong_table_is_refused),
		T(a_refused_plugin_leaves_the_others_usable),
		T(a_cuda_plugin_says_what_is_missing),
		T(text_and_empty_files_are_no_libraries),
		T(foreign_elf_files_say_what_they_are_for),
		T(damaged_elf_files_are_refused_without_a_crash),
		T(wild_offsets_in_an_elf_file_are_not_followed),
		T(every_prefix_of_a_plugin_is_read_without_a_crash),
		T(a_folder_and_an_unreadable_file_are_refused),
		T(bare_names_are_searched_in_order),
		T(paths_start_at_the_folder_of_the_graph),
		T(a_wrong_name_proposes_the_nearest_and_says_where_it_looked),
		T(without_a_folder_the_option_is_named),
		T(names_after_an_at_sign),
		T(a_folder_is_scanned_and_links_count_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
