#include "container/sniff.h"

#include <elf.h>

#include "container/ccob.h"
#include "util/range.h"

#ifndef EM_AMDGPU
#define EM_AMDGPU 224
#endif

/*
 * Sources: ELF gABI; clang/docs/ClangOffloadBundler.rst (bundle, CCOB);
 * llvm/Object/OffloadBinary.h; ar(5) and GNU binutils' ar (thin); Microsoft PE format
 * (MZ); rocm-kpack docs (KPAK); sqlite.org/fileformat2; llvm/BinaryFormat/Magic.h
 * (bitcode and its wrapper); SPIR-V specification 2.3 (either byte order); AOTriton
 * (AKS2).
 */
static const struct {
	enum rck_magic magic;
	unsigned char size;
	const char *bytes;
} magics[] = {
	{RCK_MAGIC_ELF, 4,
		"\x7f"
		"ELF"},
	{RCK_MAGIC_BUNDLE, 24, "__CLANG_OFFLOAD_BUNDLE__"},
	{RCK_MAGIC_CCOB, 4, "CCOB"},
	{RCK_MAGIC_OFFLOAD, 4, "\x10\xff\x10\xad"},
	{RCK_MAGIC_ARCHIVE, 8, "!<arch>\n"},
	{RCK_MAGIC_THIN_ARCHIVE, 8, "!<thin>\n"},
	{RCK_MAGIC_KPACK, 4, "KPAK"},
	{RCK_MAGIC_SQLITE, 16, "SQLite format 3"}, /* and its NUL */
	{RCK_MAGIC_BITCODE, 4, "BC\xc0\xde"},
	{RCK_MAGIC_BITCODE, 4, "\xde\xc0\x17\x0b"},
	{RCK_MAGIC_SPIRV, 4, "\x03\x02\x23\x07"},
	{RCK_MAGIC_SPIRV, 4, "\x07\x23\x02\x03"},
	{RCK_MAGIC_AKS2, 4, "AKS2"},
	{RCK_MAGIC_PE, 2, "MZ"},
};

static const struct {
	const char *name, *text;
} names[RCK_MAGIC_COUNT_] = {
	[RCK_MAGIC_NONE] = {"file", "of no known kind"},
	[RCK_MAGIC_AMDGPU] = {"code-object", "an AMDGPU code object"},
	[RCK_MAGIC_ELF] = {"elf", "an ELF file"},
	[RCK_MAGIC_BUNDLE] = {"bundle", "a clang offload bundle"},
	[RCK_MAGIC_CCOB] = {"ccob", "a compressed bundle"},
	[RCK_MAGIC_OFFLOAD] = {"offload-binary", "an LLVM OffloadBinary"},
	[RCK_MAGIC_ARCHIVE] = {"archive", "an archive"},
	[RCK_MAGIC_THIN_ARCHIVE] = {"archive", "a thin archive"},
	[RCK_MAGIC_PE] = {"pe", "a PE file"},
	[RCK_MAGIC_COFF] = {"coff", "a COFF object"},
	[RCK_MAGIC_KPACK] = {"kpack", "a kpack archive"},
	[RCK_MAGIC_SQLITE] = {"kdb", "an SQLite database"},
	[RCK_MAGIC_BITCODE] = {"bitcode", "LLVM bitcode"},
	[RCK_MAGIC_SPIRV] = {"spirv", "SPIR-V"},
	[RCK_MAGIC_AKS2] = {"aks2", "an AOTriton pack"},
};

/*
 * COFF objects have no magic, only a machine: so the rest of the header must fit the
 * file. Microsoft PE format, "COFF file header"; bigobj: ANON_OBJECT_HEADER_BIGOBJ.
 */
static bool is_coff(struct rck_slice s)
{
	static const uint16_t machines[] = {0x8664, 0xaa64, 0x014c};
	uint16_t machine, n;
	bool known = false;

	if (s.size < 20)
		return false;
	machine = rck_le16(s.data);
	if (machine == 0 && rck_le16(s.data + 2) == 0xffff)
		return s.size >= 56 && rck_le16(s.data + 4) >= 2;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		known |= machine == machines[i];
	n = rck_le16(s.data + 2);
	return known && rck_le16(s.data + 16) == 0 && n &&
	       rck_range_ok(20, 40 * (uint64_t)n, s.size) &&
	       rck_range_ok(rck_le32(s.data + 8), 18 * (uint64_t)rck_le32(s.data + 12),
		       s.size);
}

enum rck_magic rck_sniff(struct rck_slice s)
{
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		if (s.size < magics[i].size ||
			memcmp(s.data, magics[i].bytes, magics[i].size))
			continue;
		if (magics[i].magic == RCK_MAGIC_ELF && s.size >= 20 &&
			s.data[EI_DATA] == ELFDATA2LSB &&
			rck_le16(s.data + 18) == EM_AMDGPU)
			return RCK_MAGIC_AMDGPU;
		return magics[i].magic;
	}
	return is_coff(s) ? RCK_MAGIC_COFF : RCK_MAGIC_NONE;
}

const char *rck_magic_name(enum rck_magic m)
{
	return names[m].name;
}

const char *rck_magic_text(enum rck_magic m)
{
	return names[m].text;
}

bool rck_magic_is_record(enum rck_magic m, struct rck_slice s, bool strict)
{
	struct rck_ccob c;

	switch (m) {
	case RCK_MAGIC_BUNDLE:
		return true;
	case RCK_MAGIC_CCOB:
		return !strict || rck_ccob_parse(s, &c, NULL) == 0;
	case RCK_MAGIC_OFFLOAD:
		return !strict || (s.size >= 32 && rck_le32(s.data + 4) - 1 < 3);
	default:
		return false;
	}
}
