// SPDX-License-Identifier: GPL-2.0-or-later
/* What is seen: a part of the time, and the points in it. */
'use strict';

const view = { from: 0, to: Math.max(1, meta.slots) };
const SPAN_LEAST = 1;		/* slots */

/* A view that is neither too small nor outside. */
function clampView(from, to) {
	const span = Math.min(Math.max(to - from, SPAN_LEAST), Math.max(1, meta.slots));
	const begin = Math.min(Math.max(from + (to - from - span) / 2, 0),
			       Math.max(1, meta.slots) - span);

	return { from: begin, to: begin + span };
}

/*
 * The blocks of the view at its level.  windows: of each point its source's block and the
 * index in it.  One point more on both sides: lines go on there.
 */
function windowOf(from, to) {
	const level = levelFor(to - from), slots = slotsOf(level);
	const first = Math.max(0, Math.floor(from / slots) - 1);
	const last = Math.min(pointsOf(level) - 1, Math.floor(to / slots) + 1);
	const parts = [];
	let coarsest = level, fallback = false;

	for (let at = first; at <= last;) {
		const block = Math.floor(at / BLOCK);
		const end = Math.min(last, (block + 1) * BLOCK - 1);
		const source = sourceOf(level, block);

		parts.push({ first: at, last: end, source });
		if (source) {
			coarsest = Math.max(coarsest, source.level);
			fallback = fallback || source.fallback;
		}
		at = end + 1;
	}
	return { level, slots, first, last, parts, coarsest, fallback };
}

/* Calls @put(position, points, index) for each point of a member; points: null, nothing. */
function eachPoint(window, member, put) {
	for (const { first, last, source } of window.parts) {
		const points = source ? source.members.get(member) : undefined;
		const shift = source ? 2 * (source.level - window.level) : 0;
		const base = source ? source.block * BLOCK : 0;

		for (let i = first; i <= last; i++)
			put(i - window.first, points || null, (i >> shift) - base);
	}
}

function known(value) {
	return Number.isNaN(value) ? null : value;
}

/* What it held in the mean of a point: nothing while it was not there; NaN: not known. */
function heldAt(points, i) {
	return occupancyTable[points.mean[i]] * points.there[i] / THERE_WHOLE;
}

/* Columns of a member: null is a gap. */
function columnsOf(window, member) {
	const n = window.last - window.first + 1;
	const c = { mean: new Array(n).fill(null), held: new Array(n).fill(null),
		    least: new Array(n).fill(null),
		    most: new Array(n).fill(null), rate: new Array(n).fill(null),
		    rateMost: new Array(n).fill(null), local: new Array(n).fill(null),
		    remote: new Array(n).fill(null), note: new Uint8Array(n) };

	eachPoint(window, member, (at, points, i) => {
		if (!points)
			return;
		c.mean[at] = known(occupancyTable[points.mean[i]]);
		c.held[at] = known(heldAt(points, i));
		c.least[at] = known(occupancyTable[points.least[i]]);
		c.most[at] = known(occupancyTable[points.most[i]]);
		c.rate[at] = known(rateTable[points.rate[i]]);
		c.rateMost[at] = known(rateTable[points.rateMost[i]]);
		c.note[at] = points.note[i];
		if (c.rate[at] === null || !points.local[i])
			return;
		c.local[at] = c.rate[at] * (points.local[i] - 1) / meta.local_parts;
		/* two lower bounds have no difference */
		if (!(c.note[at] & NOTE_PARTIAL))
			c.remote[at] = c.rate[at] - c.local[at];
	});
	return c;
}

/* Where the points begin, and the end of the last one. */
function xsOf(window) {
	const xs = [];

	for (let i = window.first; i <= window.last + 1; i++)
		xs.push(xBegin + Math.min(i * window.slots, meta.slots));
	return xs;
}

/* Values for xsOf(): the last known one again, as a step begins at a value and ends at another. */
function stepsOf(values) {
	return [...values, values.findLast((value) => value !== null) ?? null];
}

/* What the note of a point says, in words; "": all of it was read. */
function noteText(note) {
	const share = note & NOTE_SHARE, words = [];

	if (!note)
		return 'not there';
	if (note === NOTE_UNKNOWN)
		return 'not known';
	if (share < NOTE_SHARE)
		words.push('known for ' + Math.round(100 * share / NOTE_SHARE) + ' %');
	if (note & NOTE_PARTIAL)
		words.push('lower bound');
	if (note & NOTE_HELD)
		words.push('last reading');
	return words.join(', ');
}
