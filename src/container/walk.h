/*
 * The walk's inside: a stack of frames, one a container that is open, each pulled for its
 * next part. Only walk*.c and file.c look in here.
 */
#pragma once

#include <glob.h>
#include <stdatomic.h>

#include "container/aks2.h"
#include "container/bundle.h"
#include "container/bytes.h"
#include "container/ccob.h"
#include "container/archive.h"
#include "container/host-elf.h"
#include "container/kdb.h"
#include "container/kpack.h"
#include "container/offload-binary.h"
#include "container/pe.h"
#include "container/records.h"
#include "container/sniff.h"
#include "util/strbuf.h"

#define RCK_DEPTH_DEFAULT    32
#define RCK_INFLATED_DEFAULT (4ull << 30)
#define RCK_TOTAL_DEFAULT    (64ull << 30)
/* Files that one walk opens for thin archives and kpacks. */
#define RCK_OTHER_FILES 65536

/* What may stand at a place, and what it means when something else does. */
enum rck_place {
	RCK_PLACE_TOP,     /* a file: everything that is not known is an error */
	RCK_PLACE_MEMBER,  /* an archive's member: whatever is no device code is passed
			    * over
			    */
	RCK_PLACE_SECTION, /* a host file's section: the same */
	RCK_PLACE_DEVICE,  /* said to be AMD device code: anything else is an error */
	RCK_PLACE_FOREIGN, /* said to be a host's or another maker's */
};

/* A part as its container describes it; strings need not end in NUL, NULL is "none". */
struct rck_part {
	struct rck_slice slice;
	enum rck_place place;
	const char *container; /* kind of the container it stands in */
	const char *id;
	size_t id_len;
	const char *target;
	size_t target_len;
};

enum rck_step {
	RCK_STEP_DONE, /* this frame has no more parts */
	RCK_STEP_MORE, /* nothing to give yet: a frame was pushed, or a part passed over
			*/
	RCK_STEP_ITEM, /* file->item is filled */
};

struct rck_frame;
struct rck_frame_type {
	enum rck_step (*step)(struct rck_file *file, struct rck_frame *frame);
	void (*close)(struct rck_frame *frame); /* may be NULL */
};

/* A fat binary wrapper and a record, by their offsets in the file. */
struct rck_wrapper {
	uint64_t target; /* what it points at; RCK_OFFSET_NONE: not known */
	uint64_t at;
};
struct rck_found {
	uint64_t at;
	bool fatbin; /* in .hip_fatbin */
};

/* What a host file registers with HIP when it is loaded, and what was found in it. */
struct rck_wrappers {
	uint64_t hipf, hipk;       /* wrappers */
	struct rck_wrapper *items; /* the HIPF ones */
	struct rck_found *records;
	size_t n_items, n_records, cap_records;
	uint64_t bundles; /* records in .hip_fatbin */
	uint64_t named;   /* those of them that a wrapper leads to */
	uint64_t lost;    /* wrappers of which it is not known where they lead */
	size_t next;      /* the item that is looked at next */
	bool judged;
};

/* Walks an ELF's or a PE's sections. */
struct rck_sections {
	union {
		struct rck_host_elf elf;
		struct rck_pe pe;
	} u;
	bool is_elf;
	bool fatbin; /* there is a .hip_fatbin */
	struct rck_wrappers wrappers;
	struct rck_slice kref; /* .rocm_kpack_ref; size 0: none */
	uint64_t items_before; /* of the file, when this frame started */
	bool judged;           /* what the sections say together was looked at */
};

/* Follows a kpack reference: its search paths, and the files found for the current one.
 */
struct rck_walk_ref {
	struct rck_kpack_ref ref;
	uint32_t path; /* the next search path */
	glob_t files;
	size_t next;            /* of files */
	uint64_t opened, found; /* kpacks, and kernels of ours in them */
	bool told;
};

struct rck_frame {
	const struct rck_frame_type *type;
	struct rck_frame *parent;
	struct rck_slice slice;
	struct rck_bytes *bytes; /* a reference */
	/* Bytes that parts may still take. Parts lie side by side, so together they are
	 * no longer than the whole; where they are, a file is built to be walked for
	 * ever. */
	uint64_t credit;
	unsigned depth;            /* containers around and including this one */
	size_t where_len;          /* of file->where: this frame's own name */
	const char *inside;        /* what offsets count in: NULL for the file itself */
	bool other;                /* bytes are a file that was opened for this frame */
	bool section;              /* records: of a section, the parent's */
	bool fatbin;               /* records: of a .hip_fatbin, the parent's */
	bool numbered;             /* records: "[0]" is written too */
	struct rck_record pending; /* records: the one behind a note */
	union {
		struct rck_sections sections;
		struct rck_records records;
		struct rck_bundle bundle;
		struct rck_offload offload;
		struct rck_aks2 aks2;
		struct rck_archive archive;
		struct rck_kdb kdb;
		struct rck_walk_ref ref;
		struct {
			struct rck_kpack k;
			struct rck_walk_ref *ref; /* whose kernels only; NULL: all */
		} kpack;
		struct {
			struct rck_part part;
			bool given;
		} single;
	} u;
};

/* Shared by a file and the files opened from its items. */
struct rck_budget {
	atomic_uint_least64_t inflated; /* bytes so far */
	atomic_uint other_files;
};

struct rck_file {
	char *path; /* NULL: memory without a name */
	struct rck_bytes *bytes;
	struct rck_slice slice;
	struct rck_options opt;
	struct rck_budget own, *budget;
	struct rck_inflater inflater;
	bool started, told_changed;
	const char *inside; /* as in struct rck_frame, for the root */

	struct rck_frame *top;
	struct rck_item item; /* the one to be given */
	uint64_t index, items;
	unsigned base_depth;
	size_t base_where;
	struct rck_strbuf where, id, target;
};

/* Gives an item: its bytes lie in frame's. part may be NULL. */
enum rck_step rck_walk_item(struct rck_file *file, const struct rck_frame *frame,
	enum rck_item_kind kind, const struct rck_part *part);
/* Gives an INCOMPLETE, ERROR or NOTE whose diag.offset counts from base.data. */
enum rck_step rck_walk_diag(struct rck_file *file, const struct rck_frame *frame,
	enum rck_item_kind kind, struct rck_slice base, const struct rck_part *part,
	const struct rck_diag *diag);
/* The same with the message written here, offset at base.data. */
enum rck_step rck_walk_say(struct rck_file *file, const struct rck_frame *frame,
	enum rck_item_kind kind, struct rck_slice base, const struct rck_part *part,
	int code, const char *fmt, ...) __attribute__((format(printf, 7, 8)));
/* Gives an INCOMPLETE at base's start; remedy is a literal. */
enum rck_step rck_walk_incomplete(struct rck_file *file, const struct rck_frame *frame,
	struct rck_slice base, const struct rck_part *part, int code, const char *remedy,
	const char *fmt, ...) __attribute__((format(printf, 7, 8)));

/* Names the part that frame gives next: frame's name, a slash, and these bytes. */
void rck_walk_name(struct rck_file *file, const struct rck_frame *frame, const char *name,
	size_t len);

/*
 * A part of frame, named by rck_walk_name(): by its magic a frame is pushed, an item
 * given, or nothing done. Takes its size from frame's credit.
 */
enum rck_step rck_walk_part(
	struct rck_file *file, struct rck_frame *frame, const struct rck_part *part);
/*
 * Pushes a frame that is named by file->where as it stands and closed by type->close,
 * also when the caller fails to open what it is to walk. nests: it is a container of its
 * own for the depth cap. parent NULL: the root. NULL and file->item an error when that is
 * too deep, or memory is out.
 */
struct rck_frame *rck_walk_push(struct rck_file *file, struct rck_frame *parent,
	const struct rck_frame_type *type, struct rck_slice slice,
	struct rck_bytes *bytes, bool nests);
/* Ends the top frame. */
void rck_walk_pop(struct rck_file *file);
/* Ends the top frame, for which file->item is an error: it could not be opened. */
enum rck_step rck_walk_refuse(struct rck_file *file);
/*
 * A frame whose only part is part, in bytes of its own: another file (other), or
 * something inflated. part's strings must live as long as parent. inside: what its
 * offsets count in.
 */
enum rck_step rck_walk_push_single(struct rck_file *file, struct rck_frame *parent,
	struct rck_bytes *bytes, const struct rck_part *part, const char *inside,
	bool other);
/* A frame over a range of records. */
enum rck_step rck_walk_push_records(struct rck_file *file, struct rck_frame *parent,
	struct rck_slice s, struct rck_bytes *bytes, bool nests);
/* Whether an entry id speaks of AMD device code or of somebody else's. */
enum rck_place rck_walk_place_of(const struct rck_bundle_id *id);
/* How much may still be inflated: for a limit. */
uint64_t rck_walk_limit(const struct rck_file *file);

/* A path that frame's container names, relative to the folder of the file that frame is
 * in. false when that has no path. */
bool rck_walk_path(struct rck_file *file, const struct rck_frame *frame, const char *path,
	size_t len, struct rck_strbuf *full);
/* Opens a file that frame's container names. Refuses one that is open around it already
 * (-ELOOP), and more than RCK_OTHER_FILES. */
int rck_walk_open_other(struct rck_file *file, const struct rck_frame *frame,
	const char *path, struct rck_bytes **out, struct rck_diag *diag);

/* walk-wrappers.c */
enum rck_step rck_walk_read_wrappers(
	struct rck_file *file, struct rck_frame *frame, const struct rck_entry *e);
/* A record that the sections' frame holds. */
void rck_walk_note_record(
	struct rck_frame *frame, const struct rck_record *r, bool fatbin);
/* Wrappers against records, once all sections were seen: a note, a frame for a record
 * that stands in a section of another name, or RCK_STEP_DONE. */
enum rck_step rck_walk_judge_wrappers(struct rck_file *file, struct rck_frame *frame);
void rck_walk_drop_wrappers(struct rck_frame *frame);
/* walk-aks2.c, walk-kdb.c, walk-kpack.c */
enum rck_step rck_walk_push_aks2(
	struct rck_file *file, struct rck_frame *parent, struct rck_slice s);
enum rck_step rck_walk_push_kdb(struct rck_file *file, struct rck_frame *parent,
	struct rck_slice s, struct rck_bytes *bytes);
enum rck_step rck_walk_push_kpack(struct rck_file *file, struct rck_frame *parent,
	struct rck_slice s, struct rck_bytes *bytes);
enum rck_step rck_walk_push_kpack_ref(
	struct rck_file *file, struct rck_frame *parent, struct rck_slice s);
/* walk-archive.c */
enum rck_step rck_walk_push_archive(struct rck_file *file, struct rck_frame *parent,
	struct rck_slice s, struct rck_bytes *bytes);
/* walk-sections.c */
enum rck_step rck_walk_push_sections(struct rck_file *file, struct rck_frame *parent,
	struct rck_slice s, struct rck_bytes *bytes, bool is_elf);
