/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.c - reads the few parts of an ELF file that explain a failed load.
 *
 * A damaged file yields a sentence or missing details, never a crash: sizes are
 * bounded, and whatever cannot be read is taken as absent.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "plugin/elf.h"

enum { MAX_PHDR = 128, MAX_DYN = 512, MAX_NOTE = 4096, MAX_NAME = 1024, MAX_NEEDED = 64 };

#if defined(__x86_64__)
enum { OUR_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OUR_MACHINE = EM_AARCH64 };
#elif defined(__riscv)
enum { OUR_MACHINE = EM_RISCV };
#else
enum { OUR_MACHINE = EM_NONE };
#endif

struct file {
	int fd;
	uint64_t bytes;
	Elf64_Phdr ph[MAX_PHDR];
	unsigned n_ph;
};

static bool
read_at(const struct file *f, uint64_t at, void *dst, size_t n)
{
	if (at > f->bytes || n > f->bytes - at)
		return false;
	return pread(f->fd, dst, n, (off_t)at) == (ssize_t)n;
}

static const char *
machine_name(struct hr_arena *a, unsigned m)
{
	static const struct {
		unsigned machine;
		const char *name;
	} known[] = {
		{ EM_386, "32-bit x86" },  { EM_X86_64, "x86-64" }, { EM_ARM, "32-bit ARM" },
		{ EM_AARCH64, "AArch64" }, { EM_RISCV, "RISC-V" },  { EM_PPC64, "PowerPC 64" },
		{ EM_S390, "IBM S/390" },  { EM_MIPS, "MIPS" },
	};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (known[i].machine == m)
			return known[i].name;
	return hr_printf(a, "machine number %u", m);
}

/* NULL: a shared object of this machine. */
static const char *
refuse(struct hr_arena *a, const struct file *f, Elf64_Ehdr *eh)
{
	unsigned char ident[EI_NIDENT] = { 0 };

	if (!f->bytes)
		return "the file is empty";
	if (!read_at(f, 0, ident, sizeof ident) || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return "it is not an ELF file, so no shared library";
	if (ident[EI_CLASS] != ELFCLASS64)
		return "it was built for a 32-bit machine; this is a 64-bit one";
	if (ident[EI_DATA] != ELFDATA2LSB)
		return "it was built for a big-endian machine";
	if (!read_at(f, 0, eh, sizeof *eh))
		return "the ELF file is cut off";
	if (eh->e_machine != OUR_MACHINE)
		return hr_printf(a, "it was built for %s; this machine is %s",
				 machine_name(a, eh->e_machine), machine_name(a, OUR_MACHINE));
	if (eh->e_type != ET_DYN)
		return "it is an ELF file but no shared library";
	return NULL;
}

static void
read_headers(struct file *f, const Elf64_Ehdr *eh)
{
	unsigned n = eh->e_phnum < MAX_PHDR ? eh->e_phnum : MAX_PHDR;

	if (eh->e_phentsize != sizeof f->ph[0])
		return;
	for (f->n_ph = 0; f->n_ph < n; f->n_ph++)
		if (!read_at(f, eh->e_phoff + f->n_ph * sizeof f->ph[0], &f->ph[f->n_ph],
			     sizeof f->ph[0]))
			return;
}

/* File offset of an address of the loaded image. */
static bool
offset_of(const struct file *f, uint64_t addr, uint64_t *at)
{
	for (unsigned i = 0; i < f->n_ph; i++) {
		const Elf64_Phdr *p = &f->ph[i];

		if (p->p_type != PT_LOAD || addr < p->p_vaddr || addr - p->p_vaddr >= p->p_filesz)
			continue;
		*at = p->p_offset + (addr - p->p_vaddr);
		return true;
	}
	return false;
}

static const char *
string_at(struct hr_arena *a, const struct file *f, uint64_t at)
{
	char buf[MAX_NAME];
	size_t n = sizeof buf;

	if (at >= f->bytes)
		return NULL;
	if (n > f->bytes - at)
		n = (size_t)(f->bytes - at);
	if (!read_at(f, at, buf, n) || !memchr(buf, 0, n))
		return NULL;
	return hr_strdup(a, buf);
}

static void
read_dynamic(struct hr_arena *a, const struct file *f, const Elf64_Phdr *ph, struct hr_elf *out)
{
	Elf64_Dyn dyn[MAX_DYN];
	size_t n = (size_t)(ph->p_filesz / sizeof dyn[0]);
	const char **needed = HR_ARRAY(a, MAX_NEEDED, const char *);
	uint64_t strings = 0;
	bool have = false;

	n = n < MAX_DYN ? n : MAX_DYN;
	if (!read_at(f, ph->p_offset, dyn, n * sizeof dyn[0]))
		return;
	for (size_t i = 0; i < n && dyn[i].d_tag != DT_NULL; i++)
		if (dyn[i].d_tag == DT_STRTAB)
			have = offset_of(f, dyn[i].d_un.d_ptr, &strings);
	if (!have)
		return;
	out->needed = needed;
	for (size_t i = 0; i < n && dyn[i].d_tag != DT_NULL; i++) {
		const char *s = string_at(a, f, strings + dyn[i].d_un.d_val);

		if (dyn[i].d_tag == DT_NEEDED && s && out->n_needed < MAX_NEEDED)
			needed[out->n_needed++] = s;
		if (dyn[i].d_tag == DT_RUNPATH || (dyn[i].d_tag == DT_RPATH && !out->runpath))
			out->runpath = s;
	}
}

static const char *
read_build_id(struct hr_arena *a, const struct file *f, const Elf64_Phdr *ph)
{
	unsigned char note[MAX_NOTE];
	size_t n = ph->p_filesz < sizeof note ? (size_t)ph->p_filesz : sizeof note;

	if (!read_at(f, ph->p_offset, note, n))
		return "";
	for (size_t at = 0; n - at >= sizeof(Elf64_Nhdr);) {
		Elf64_Nhdr nh;
		size_t name, desc;
		struct hr_text t;

		memcpy(&nh, note + at, sizeof nh);
		at += sizeof nh;
		if (nh.n_namesz > MAX_NOTE || nh.n_descsz > MAX_NOTE)
			return "";
		name = (nh.n_namesz + 3u) & ~3u;
		desc = (nh.n_descsz + 3u) & ~3u;
		if (name + desc > n - at)
			return "";
		if (nh.n_type != NT_GNU_BUILD_ID || nh.n_namesz != 4 ||
		    memcmp(note + at, "GNU", 4) != 0) {
			at += name + desc;
			continue;
		}
		hr_text_init(&t, a);
		for (size_t i = 0; i < nh.n_descsz; i++)
			hr_text_add(&t, "%02x", note[at + name + i]);
		return t.s;
	}
	return "";
}

struct hr_elf
hr_elf_read(struct hr_arena *a, const char *path)
{
	struct hr_elf out = { .build_id = "" };
	struct file f = { .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
	struct stat st = { 0 };
	Elf64_Ehdr eh = { 0 };

	if (f.fd < 0) {
		out.refused = hr_printf(a, "it cannot be opened: %s", strerrordesc_np(errno));
		return out;
	}
	if (fstat(f.fd, &st) || !S_ISREG(st.st_mode)) {
		out.refused = S_ISDIR(st.st_mode) ? "it is a folder" : "it is not a regular file";
		goto close;
	}
	f.bytes = (uint64_t)st.st_size;
	out.refused = refuse(a, &f, &eh);
	if (out.refused)
		goto close;
	read_headers(&f, &eh);
	for (unsigned i = 0; i < f.n_ph; i++) {
		if (f.ph[i].p_type == PT_DYNAMIC)
			read_dynamic(a, &f, &f.ph[i], &out);
		if (f.ph[i].p_type == PT_NOTE && !*out.build_id)
			out.build_id = read_build_id(a, &f, &f.ph[i]);
	}
close:
	(void)close(f.fd);
	return out;
}
