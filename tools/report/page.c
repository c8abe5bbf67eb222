// SPDX-License-Identifier: GPL-2.0-or-later
#include "page.h"

#include <errno.h>
#include <inttypes.h>

#include "assets.h"
#include "base64.h"
#include "common/format.h"
#include "print.h"

#define FIRST_POINTS 2500U	/* that the first picture has at most; see web/data.js */

static void print_title(FILE *out, const struct page_about *about)
{
	fputs("<title>cmt report", out);
	if (about->host && about->host[0]) {
		fputs(": ", out);
		print_html(out, about->host);
	}
	fputs("</title>\n", out);
}

const char *page_policy(char buf[PAGE_POLICY_LEN])
{
	snprintf(buf, PAGE_POLICY_LEN, "default-src 'none'; script-src '%s'; style-src '%s'; "
		 "base-uri 'none'; form-action 'none'", asset_script_hash, asset_style_hash);
	return buf;
}

static void print_head(FILE *out, const struct page_about *about)
{
	char policy[PAGE_POLICY_LEN];

	fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n",
		page_policy(policy));
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n", out);
	print_title(out, about);
	fputs("<!--\n", out);
	fwrite(asset_licences, 1, asset_licences_len, out);
	fputs("-->\n<style>", out);
	fwrite(asset_style, 1, asset_style_len, out);
	fputs("</style>\n</head>\n<body>\n", out);
	fwrite(asset_body, 1, asset_body_len, out);
}

static void print_mean(FILE *out, const struct member *member)
{
	char occupancy[FORMAT_LEN] = "not known", rate[FORMAT_LEN] = "not known";
	const struct point *all = &member->all;

	if (all->known)
		format_bytes(occupancy, (uint64_t)(all->sum / all->known));
	if (all->rated)
		format_rate(rate, all->rate_sum / all->rated);
	fputs("<tr><td>", out);
	print_html(out, member->label);
	fprintf(out, "</td><td>%s%s</td><td>%s%s</td></tr>\n", all->bytes_bounded ? "&gt;" : "",
		occupancy, all->rate_bounded ? "&gt;" : "", rate);
}

/* Without scripts, the page shows at least the means. */
static void print_noscript(FILE *out, const struct model *model)
{
	fputs("<noscript><p>The timelines need JavaScript, which is off.  The page loads nothing from "
	      "anywhere; cmtstat replay shows the recording in a terminal.</p>\n", out);
	if (model->emulated)
		fputs("<p>EMULATED: values come from a model, not from hardware.</p>\n",
		      out);
	fputs("<table><caption>Means over the time in which they are known</caption>\n"
	      "<tr><th>Container</th><th>L3 occupancy</th><th>Memory bandwidth</th></tr>\n", out);
	for (uint32_t i = 0; i < model->nr; i++)
		if (model->members[i].kind < MEMBER_CHANNEL)
			print_mean(out, &model->members[i]);
	fputs("</table></noscript>\n", out);
}

static int print_blob(FILE *out, struct spool *spool, const struct blob *blob,
		      struct bytes *bytes)
{
	int ret = spool_read(spool, blob, bytes);

	if (ret)
		return ret;
	fprintf(out, "<script type=\"text/plain\" id=\"b%" PRIu32 "-%" PRIu32 "\">",
		blob->level, blob->block);
	base64_print(out, bytes->at, bytes->len);
	fputs("</script>\n", out);
	return 0;
}

/* From the coarsest level down to @to, or from @from down. */
static int print_blobs(FILE *out, struct spool *spool, uint32_t from, uint32_t to)
{
	struct bytes bytes = { 0 };
	int ret = 0;

	for (uint32_t i = 0; !ret && i < spool->nr; i++) {
		const struct blob *blob = &spool->blobs[i];

		if (blob->kept && blob->level <= from && blob->level >= to)
			ret = print_blob(out, spool, blob, &bytes);
	}
	bytes_free(&bytes);
	return ret;
}

/*
 * The level that the overview is drawn from: a browser draws it before it has read the
 * rest.
 */
static uint32_t first_level(const struct model *model)
{
	uint32_t level = 0;

	while (level + 1 < PYRAMID_LEVELS &&
	       model->slots / pyramid_slots(level) > FIRST_POINTS)
		level++;
	return level;
}

int page_write(FILE *out, struct model *model, const struct page_about *about,
	       uint64_t limit)
{
	uint32_t first = first_level(model);
	int ret;

	spool_choose(model->spool, limit);
	print_head(out, about);
	print_noscript(out, model);
	fputs("<script type=\"application/json\" id=\"meta\">", out);
	page_meta(out, model, about);
	fputs("</script>\n", out);
	ret = print_blobs(out, model->spool, PYRAMID_LEVELS, first);
	if (ret)
		return ret;
	fputs("<script>", out);
	fwrite(asset_script, 1, asset_script_len, out);
	fputs("</script>\n", out);
	if (first)
		ret = print_blobs(out, model->spool, first - 1, 0);
	if (ret)
		return ret;
	fputs("</body>\n</html>\n", out);
	return fflush(out) || ferror(out) ? (errno ? -errno : -EIO) : 0;
}
