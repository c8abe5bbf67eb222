// SPDX-License-Identifier: GPL-2.0-or-later
/* What is kept for the full screen: its text, its file, and who may have it. */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board/settings_file.h"
#include "cmtstat/cmtstat.h"
#include "unit.h"

static struct settings settings;
static struct mistakes mistakes;
static char home[64], told[SETTINGS_TOLD];

static void parse(const char *text)
{
	settings_parse(&settings, text, strlen(text), &mistakes);
}

START_TEST(test_settings_are_lines)
{
	parse("# of mine\n\n by=cpu\n\tsort = ipc \r\nreverse = yes\ninterval = 0.5\nexpand = no\n"
	      "color = no");
	ck_assert_uint_eq(mistakes.nr, 0);
	ck_assert_uint_eq(settings.given, (1U << NR_SETTINGS) - 1);
	ck_assert_int_eq(settings.by, VIEW_CPU);
	ck_assert_int_eq(settings.sort, SORT_IPC);
	ck_assert(settings.reverse && !settings.expand && !settings.color);
	ck_assert_uint_eq(settings.interval_ns, 500000000);
	/* the last of two counts */
	parse("by = cpu\nby = domain\n");
	ck_assert_int_eq(settings.by, VIEW_DOMAIN);
	parse("");
	ck_assert_uint_eq(settings.given, 0);
}
END_TEST

/* Each is told with its line, and the others hold. */
START_TEST(test_settings_tell_mistakes)
{
	static const char ZERO[] = "by = cpu\0\n= 7\nsort = ipc\n";
	char line[4096];

	parse("by = shelf\nsort = ipc\ninterval = 0.01\ncolour\n\033[31m = 1\n");
	ck_assert_uint_eq(settings.given, 1U << SETTING_SORT);
	ck_assert_uint_eq(mistakes.nr, 4);
	ck_assert_str_eq(mistakes.told[0],
			 "1: by: container, process, cpu, domain or channel");
	ck_assert_str_eq(mistakes.told[1],
			 "3: interval: a number of seconds from 0.1 to 60");
	ck_assert_str_eq(mistakes.told[2], "4: colour: not \"name = value\"");
	parse("\033[31m = 1\n");
	ck_assert_str_eq(mistakes.told[0], "1: \\x1b[31m: there is no such option");
	settings_parse(&settings, ZERO, sizeof(ZERO) - 1, &mistakes);
	ck_assert_uint_eq(settings.given, 1U << SETTING_SORT);
	ck_assert_uint_eq(mistakes.nr, 2);
	memset(line, ' ', sizeof(line));
	memcpy(line, "by = cpu", 8);
	settings_parse(&settings, line, sizeof(line), &mistakes);
	ck_assert_uint_eq(mistakes.nr, 1);
	memset(line, '=', sizeof(line));
	settings_parse(&settings, line, sizeof(line), &mistakes);
	ck_assert_uint_eq(mistakes.nr, 1);
}
END_TEST

/* What is not changed stays, also what this version does not know. */
START_TEST(test_settings_are_changed_in_place)
{
	static const char OLD[] = "# mine\nby = cpu\nfont = large\nby = cpu\nsort = ipc";
	char *bytes = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&bytes, &len);

	settings = (struct settings){
		.given = 1U << SETTING_BY | 1U << SETTING_INTERVAL,
		.by = VIEW_PROCESS, .interval_ns = 100000000,
	};
	settings_print(out, OLD, sizeof(OLD) - 1, &settings);
	fclose(out);
	ck_assert_str_eq(bytes, "# mine\nby = process\nfont = large\nsort = ipc\n"
				"interval = 0.1\n");
	settings_parse(&settings, bytes, len, &mistakes);
	ck_assert_uint_eq(mistakes.nr, 1);
	ck_assert_uint_eq(settings.interval_ns, 100000000);
	free(bytes);
}
END_TEST

static struct config applied(const struct config *config, const char *text, bool groups)
{
	struct config to = *config;

	parse(text);
	ck_assert_uint_eq(mistakes.nr, 0);
	settings_apply(&settings, &to, groups);
	return to;
}

START_TEST(test_settings_give_way_to_the_command_line)
{
	struct config config = cmtstat_defaults, to;

	to = applied(&config, "by = process\nsort = ipc\nreverse = yes\ninterval = 2\ncolor = no\n",
		     false);
	ck_assert_int_eq(to.by, VIEW_PROCESS);
	ck_assert(to.by_given && to.reverse && to.color_off);
	ck_assert_int_eq(to.sort, SORT_IPC);
	ck_assert_uint_eq(to.interval_ns, 2000000000);
	config.sort = SORT_NAME;
	config.interval_given = true;
	to = applied(&config, "sort = ipc\nreverse = yes\ninterval = 2\n", false);
	ck_assert_int_eq(to.sort, SORT_NAME);
	ck_assert(!to.reverse);
	ck_assert_uint_eq(to.interval_ns, 1000000000);
	config = cmtstat_defaults;
	config.by_given = true;
	config.by = VIEW_CPU;
	to = applied(&config, "by = process\nsort = ipc\nexpand = yes\n", false);
	ck_assert_int_eq(to.by, VIEW_CPU);
	ck_assert_int_eq(to.sort, SORT_DEFAULT);
	ck_assert(!to.expand);
	config = cmtstat_defaults;
	config.expand = true;
	ck_assert_int_eq(applied(&config, "by = cpu\n", false).by, VIEW_CONTAINER);
	config = cmtstat_defaults;
	config.filter = "web*";
	to = applied(&config, "by = cpu\nsort = ipc\n", false);
	ck_assert_int_eq(to.by, VIEW_CONTAINER);
	ck_assert_int_eq(to.sort, SORT_DEFAULT);
}
END_TEST

/* What a source or a view does not have is not chosen by a file. */
START_TEST(test_settings_are_only_what_there_is)
{
	struct config config = cmtstat_defaults, to;

	ck_assert_int_eq(applied(&config, "by = process\n", true).by, VIEW_CONTAINER);
	ck_assert(!applied(&config, "expand = yes\n", true).expand);
	ck_assert(applied(&config, "expand = yes\n", false).expand);
	to = applied(&config, "by = process\nsort = slower\n", false);
	ck_assert_int_eq(to.sort, SORT_DEFAULT);
	config.light = true;
	ck_assert_int_eq(applied(&config, "by = cpu\n", false).by, VIEW_CONTAINER);
}
END_TEST

static void make_home(void)
{
	strcpy(home, "/tmp/cmt-settings-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(home));
	setenv("XDG_CONFIG_HOME", home, 1);
	parse("by = cpu\n");
}

static const char *in_home(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", home, name);
	return path;
}

/* What settings_load() says on its stream */
static const char *load(void)
{
	FILE *err = fmemopen(told, sizeof(told), "w");

	told[0] = '\0';
	settings_load(&settings, err);
	fclose(err);
	return told;
}

static void put_file(const char *text)
{
	FILE *file = fopen(in_home("cmt/cmtstat"), "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void remove_home(void)
{
	unlink(in_home("cmt/cmtstat"));
	rmdir(in_home("cmt/cmtstat"));
	/* nothing else was left there */
	ck_assert_int_eq(rmdir(in_home("cmt")), 0);
	ck_assert_int_eq(rmdir(home), 0);
}

static void assert_told(const char *text, const char *what)
{
	ck_assert_msg(strstr(text, what) != NULL, "no '%s' in '%s'", what, text);
}

START_TEST(test_file_is_made_and_changed)
{
	struct stat st;

	make_home();
	ck_assert_str_eq(load(), "");
	parse("by = cpu\n");
	ck_assert_int_eq(settings_save(&settings, told), 0);
	assert_told(told, "kept in /tmp/cmt-settings-");
	ck_assert_int_eq(stat(in_home("cmt/cmtstat"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(stat(in_home("cmt"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	parse("sort = ipc\n");
	ck_assert_int_eq(settings_save(&settings, told), 0);
	ck_assert_str_eq(load(), "");
	ck_assert_uint_eq(settings.given, 1U << SETTING_BY | 1U << SETTING_SORT);
	put_file("by = cpu\nfont = 7\n");
	assert_told(load(), "/cmt/cmtstat:2: font: there is no such option: ignored\n");
	ck_assert_int_eq(settings.by, VIEW_CPU);
	put_file("1\n2\n3\n4\n5\n");
	assert_told(load(), ":3: 3: not \"name = value\": ignored\ncmtstat: and 2 more\n");
	remove_home();
}
END_TEST

/* Neither read nor replaced, and the cause is told. */
static void assert_refused(const char *cause)
{
	assert_told(load(), cause);
	ck_assert_uint_eq(settings.given, 0);
	parse("by = cpu\n");
	ck_assert_int_lt(settings_save(&settings, told), 0);
	assert_told(told, "not kept: ");
	assert_told(told, cause);
	assert_told(told, ": /tmp/cmt-settings-");
	ck_assert(strstr(told, cause) < strstr(told, "/tmp/cmt-settings-"));
}

START_TEST(test_file_is_no_other_thing)
{
	char big[65536 + 1];

	make_home();
	ck_assert_int_eq(mkdir(in_home("cmt"), 0700), 0);
	ck_assert_int_eq(symlink("/etc/passwd", in_home("cmt/cmtstat")), 0);
	assert_refused("it is a symbolic link");
	unlink(in_home("cmt/cmtstat"));
	ck_assert_int_eq(mkfifo(in_home("cmt/cmtstat"), 0600), 0);
	assert_refused("it is not a regular file");
	unlink(in_home("cmt/cmtstat"));
	ck_assert_int_eq(mkdir(in_home("cmt/cmtstat"), 0700), 0);
	assert_refused("it is not a regular file");
	rmdir(in_home("cmt/cmtstat"));
	memset(big, '#', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	put_file(big);
	ck_assert_str_eq(load(), "");
	put_file("#");
	ck_assert_int_eq(truncate(in_home("cmt/cmtstat"), sizeof(big)), 0);
	assert_refused("it is larger than 64 KiB");
	put_file("by = cpu\n");
	chmod(in_home("cmt/cmtstat"), 0666);
	assert_refused("anybody may write there");
	remove_home();
}
END_TEST

/* As below sudo -E: nothing is read, and no directory is made. */
START_TEST(test_file_is_of_this_user)
{
	struct stat st;

	make_home();
	parse("by = cpu\n");
	ck_assert_int_eq(settings_save(&settings, told), 0);
	if (geteuid())
		setenv("XDG_CONFIG_HOME", "/usr", 1);
	else
		ck_assert_int_eq(chown(home, 65534, 65534), 0);
	ck_assert_str_eq(load(), "");
	ck_assert_uint_eq(settings.given, 0);
	parse("by = cpu\n");
	ck_assert_int_lt(settings_save(&settings, told), 0);
	assert_told(told, "not kept: ");
	assert_told(told, "is another user's");
	ck_assert_int_ne(stat("/usr/cmt", &st), 0);
	ck_assert(geteuid() || !chown(home, 0, 0));
	setenv("XDG_CONFIG_HOME", home, 1);
	remove_home();
}
END_TEST

START_TEST(test_file_needs_a_home)
{
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
	ck_assert_str_eq(load(), "");
	ck_assert_int_lt(settings_save(&settings, told), 0);
	assert_told(told, "neither XDG_CONFIG_HOME nor HOME");
	setenv("XDG_CONFIG_HOME", "relative", 1);
	setenv("HOME", "", 1);
	ck_assert_int_lt(settings_save(&settings, told), 0);
	make_home();
	unsetenv("XDG_CONFIG_HOME");
	setenv("HOME", home, 1);
	parse("by = cpu\n");
	ck_assert_int_eq(settings_save(&settings, told), 0);
	assert_told(told, "/.config/cmt/cmtstat");
	unlink(in_home(".config/cmt/cmtstat"));
	rmdir(in_home(".config/cmt"));
	ck_assert_int_eq(rmdir(in_home(".config")), 0);
	/* the place of the directory is taken: as where nothing can be written */
	ck_assert_int_eq(close(open(in_home(".config"), O_CREAT | O_WRONLY, 0600)), 0);
	ck_assert_str_eq(load(), "");
	ck_assert_int_lt(settings_save(&settings, told), 0);
	assert_told(told, "Not a directory");
	unlink(in_home(".config"));
	ck_assert_int_eq(rmdir(home), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("settings");

	UNIT_CASE(suite, test_settings_are_lines);
	UNIT_CASE(suite, test_settings_tell_mistakes);
	UNIT_CASE(suite, test_settings_are_changed_in_place);
	UNIT_CASE(suite, test_settings_give_way_to_the_command_line);
	UNIT_CASE(suite, test_settings_are_only_what_there_is);
	UNIT_CASE(suite, test_file_is_made_and_changed);
	UNIT_CASE(suite, test_file_is_no_other_thing);
	UNIT_CASE(suite, test_file_is_of_this_user);
	UNIT_CASE(suite, test_file_needs_a_home);
	return unit_run(suite);
}
