/* What a range of bytes is, by its first bytes: never by a name. */
#pragma once

#include "container/container.h"

enum rck_magic {
	RCK_MAGIC_NONE,
	RCK_MAGIC_AMDGPU, /* an ELF of EM_AMDGPU: a code object */
	RCK_MAGIC_ELF,    /* any other ELF */
	RCK_MAGIC_BUNDLE,
	RCK_MAGIC_CCOB,
	RCK_MAGIC_OFFLOAD,
	RCK_MAGIC_ARCHIVE,
	RCK_MAGIC_THIN_ARCHIVE,
	RCK_MAGIC_PE,
	RCK_MAGIC_COFF,
	RCK_MAGIC_KPACK,
	RCK_MAGIC_SQLITE,
	RCK_MAGIC_BITCODE,
	RCK_MAGIC_SPIRV,
	RCK_MAGIC_AKS2,
	RCK_MAGIC_COUNT_,
};

enum rck_magic rck_sniff(struct rck_slice s);
/* One word for messages and for struct rck_item.container: "bundle", "elf", ... */
const char *rck_magic_name(enum rck_magic m);
/* A phrase for people: "a clang offload bundle". */
const char *rck_magic_text(enum rck_magic m);
/* True for what may follow one another in a section: bundle, compressed bundle,
 * OffloadBinary. With strict the fields behind a short magic must make sense too, as
 * where the magic was searched for or stands in a section of any name. */
bool rck_magic_is_record(enum rck_magic m, struct rck_slice s, bool strict);
