// SPDX-License-Identifier: GPL-2.0-or-later
/* The file of names, with a look-up in it, and the list of mounts. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/file.h"
#include "fuzz.h"
#include "name/names_file.h"

#define FILE_PATH "." CMT_NAMES_DIR "/" CMT_NAMES_FILE

static int root = -1;
static char root_path[] = "/tmp/cmt-fuzz-XXXXXX";

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);

/* Root's, whoever fuzzes. */
int __wrap_fstat(int fd, struct stat *st)
{
	int ret = __real_fstat(fd, st);

	st->st_uid = 0;
	return ret;
}

static void remove_root(void)
{
	unlinkat(root, FILE_PATH, 0);
	unlinkat(root, "." CMT_NAMES_DIR, AT_REMOVEDIR);
	unlinkat(root, "run", AT_REMOVEDIR);
	rmdir(root_path);
}

static void make_root(void)
{
	FUZZ_CHECK(mkdtemp(root_path));
	root = open(root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_CHECK(root >= 0 && !mkdirat(root, "run", 0755));
	FUZZ_CHECK(!mkdirat(root, "." CMT_NAMES_DIR, 0755));
	atexit(remove_root);
}

static void write_file(const char *bytes, size_t size)
{
	int fd = openat(root, FILE_PATH, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	FUZZ_CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	close(fd);
}

/* The id of the first line, and one that may be anywhere. */
static void look_up(const char *bytes, size_t size)
{
	static struct cmt_container container;
	struct cmt_names names = { .bytes = NULL };
	struct cmt_state state;
	const char *id;
	size_t len;

	if (!cmt_names_possible(bytes, size))
		return;
	id = bytes + strlen(CMT_NAMES_BEGIN);
	len = strcspn(id, "\t");
	if (len >= sizeof(container.id))
		return;
	write_file(bytes, size);
	container = (struct cmt_container){
		.sz = sizeof(container), .runtime = CMT_RUNTIME_KUBEPODS,
	};
	memcpy(container.id, id, len);
	/* it is there, but its runtime may be none */
	cmt_names_find(&names, root, &container, &state);
	FUZZ_CHECK(names.bytes);
	container.runtime = CMT_RUNTIME_KUBEPODS;
	strcpy(container.id, "0123456789ab");
	if (!cmt_names_find(&names, root, &container, &state)) {
		fuzz_check_printable(state.name);
		fuzz_check_printable(state.image);
	}
	cmt_names_destroy(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = fuzz_text(data, size);
	FILE *mounts;

	if (root < 0)
		make_root();
	look_up(bytes, size);
	mounts = fmemopen(bytes, size + 1, "r");
	FUZZ_CHECK(mounts);
	cmt_mount_is_local(mounts, "/var/lib/docker/containers");
	fclose(mounts);
	free(bytes);
	return 0;
}
