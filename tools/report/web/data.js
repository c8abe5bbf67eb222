// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The points: blocks of levels, each of which is unpacked when it is first needed.  Level k
 * has a point for each 4^k slots of 1 ms.  tools/report/stream.h has the coding.
 */
'use strict';

const BLOCK = meta.block;
const POINTS_MOST = 2500;	/* of a picture; as FIRST_POINTS in page.c */
/* Kept unpacked: points of members, of 15 bytes each, but at least the blocks of a picture */
const KEPT_MOST = 2 ** 24, KEPT_LEAST = 6;
const NOTE_SHARE = 0x3f, NOTE_PARTIAL = 0x40, NOTE_HELD = 0x80;
const THERE_WHOLE = 0xffff;	/* parts of a point in which it was there */
const NOTE_UNKNOWN = NOTE_HELD;	/* with no share: it was there, nothing is known */

const blocks = new Map();	/* "level-block" -> { members: Map, used } */
const loading = new Set();
const unreadable = new Set();	/* as those that were left out: coarser ones are there */
let useCount = 0;
let whenLoaded = () => {};

function inRanges(ranges, n) {
	for (let i = 0; i < ranges.length; i += 2)
		if (n >= ranges[i] && n <= ranges[i + 1])
			return true;
	return false;
}

function slotsOf(level) {
	return meta.levels[level].slots;
}

function pointsOf(level) {
	return Math.ceil(meta.slots / slotsOf(level));
}

/* The finest level with a picture's number of points for @span slots. */
function levelFor(span) {
	let level = 0;

	while (level < meta.levels.length - 1 && span / slotsOf(level) > POINTS_MOST)
		level++;
	return level;
}

function decodeCode(code, bits) {
	const limit = 2 ** bits, exponent = Math.floor(code / limit) - 1;

	return code < 2 * limit ? code : (code - exponent * limit) * 2 ** exponent;
}

/* A table is faster.  Index 0: not known. */
function decodeTable(bits, unit) {
	const table = new Float64Array(65536);

	for (let i = 1; i < 65536; i++)
		table[i] = decodeCode(i - 1, bits) * unit;
	table[0] = NaN;
	return table;
}

const occupancyTable = decodeTable(meta.bits, meta.unit);
const rateTable = decodeTable(meta.rate_bits, meta.rate_unit);

/* A position in bytes that varints are read from. */
class Bytes {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}
	varint() {
		let value = 0, factor = 1, byte = this.bytes[this.at];

		/* most are of one byte */
		if (byte < 0x80) {
			this.at++;
			return byte;
		}
		do {
			if (this.at >= this.bytes.length)
				throw new Error('a block of this page is damaged');
			byte = this.bytes[this.at++];
			value += (byte & 0x7f) * factor;
			factor *= 128;
		} while (byte & 0x80);
		return value;
	}
	signed() {
		const value = this.varint();

		return value % 2 ? -(value + 1) / 2 : value / 2;
	}
}

function newPoints(n) {
	return {
		mean: new Uint16Array(n), least: new Uint16Array(n), most: new Uint16Array(n),
		rate: new Uint16Array(n), rateMost: new Uint16Array(n),
		local: new Uint16Array(n), there: new Uint16Array(n), note: new Uint8Array(n),
	};
}

/* @p: the codes of the point before, which become those of this one */
function readValues(from, p, fine) {
	p.mean += from.signed();
	p.least = p.most = p.mean;
	if (p.mean && !fine) {
		p.least = p.mean - from.varint();
		p.most = p.mean + from.varint();
	}
	p.rate += from.signed();
	p.rateMost = p.rate;
	if (p.rate && !fine)
		p.rateMost = p.rate + from.varint();
	p.local += from.signed();
}

function storePoints(points, p, at, nr) {
	points.mean.fill(p.mean, at, at + nr);
	points.least.fill(p.least, at, at + nr);
	points.most.fill(p.most, at, at + nr);
	points.rate.fill(p.rate, at, at + nr);
	points.rateMost.fill(p.rateMost, at, at + nr);
	points.local.fill(p.local, at, at + nr);
	points.there.fill(p.there, at, at + nr);
	points.note.fill(p.note, at, at + nr);
}

/* Kinds of runs: 0 absent, 1 unknown, 2 same, 3 values, 4 noted, 5 brief. */
function decodeStream(from, end, n, fine) {
	const points = newPoints(n);
	const p = { mean: 0, least: 0, most: 0, rate: 0, rateMost: 0, local: 0, there: 0,
		    note: 0 };
	let at = 0;

	while (from.at < end && at < n) {
		const header = from.varint(), kind = header % 8;
		const nr = Math.min(Math.floor(header / 8) + 1, n - at);

		if (kind === 1)
			points.note.fill(NOTE_UNKNOWN, at, at + nr);
		else if (kind === 2)
			storePoints(points, p, at, nr);
		for (let i = 0; kind >= 3 && i < nr; i++) {
			p.there = kind === 5 ? from.varint() : THERE_WHOLE;
			p.note = kind >= 4 ? from.bytes[from.at++] : NOTE_SHARE;
			readValues(from, p, fine);
			points.mean[at + i] = p.mean;
			points.least[at + i] = p.least;
			points.most[at + i] = p.most;
			points.rate[at + i] = p.rate;
			points.rateMost[at + i] = p.rateMost;
			points.local[at + i] = p.local;
			points.there[at + i] = p.there;
			points.note[at + i] = p.note;
		}
		at += nr;
	}
	return points;
}

function decodeBlock(bytes, level, block) {
	const n = Math.min(BLOCK, pointsOf(level) - block * BLOCK);
	const members = new Map(), from = new Bytes(bytes);

	while (from.at < bytes.length) {
		const member = from.varint(), len = from.varint(), begin = from.at;

		members.set(member, decodeStream(from, begin + len, n, level === 0));
		from.at = begin + len;
	}
	return members;
}

function joinBytes(chunks) {
	const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
	let at = 0;

	for (const chunk of chunks) {
		bytes.set(chunk, at);
		at += chunk.length;
	}
	return bytes;
}

/*
 * Nothing here waits for another thread or process: while the browser reads tens of megabytes
 * of the page, it would be long before this one has its turn again.
 */
async function inflate(text) {
	const raw = atob(text), bytes = new Uint8Array(raw.length), chunks = [];
	const stream = new DecompressionStream('deflate'), writer = stream.writable.getWriter();

	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	/* what is wrong with them is told by the reading side, too */
	writer.write(bytes).catch(() => {});
	writer.close().catch(() => {});
	for await (const chunk of stream.readable)
		chunks.push(chunk);
	return joinBytes(chunks);
}

/* The least recently used ones go. */
function forgetBlocks() {
	const old = [...blocks.entries()].sort((a, b) => a[1].used - b[1].used);
	let points = old.reduce((sum, [, { members }]) => sum + members.size * BLOCK, 0);

	while (blocks.size > KEPT_LEAST && points > KEPT_MOST) {
		const [key, { members }] = old.shift();

		points -= members.size * BLOCK;
		blocks.delete(key);
	}
}

/* While the browser still reads the page, its end is not there yet. */
function pageRead() {
	if (document.readyState !== 'loading')
		return Promise.resolve();
	return new Promise((done) => document.addEventListener('DOMContentLoaded', done));
}

async function loadBlock(level, block) {
	const key = level + '-' + block;

	if (blocks.has(key) || loading.has(key))
		return;
	loading.add(key);
	if (!byId('b' + key))
		await pageRead();
	try {
		const node = byId('b' + key);

		if (!node)
			throw new Error('a block of this page is missing');
		const members = decodeBlock(await inflate(node.textContent), level, block);

		blocks.set(key, { members, used: ++useCount });
		forgetBlocks();
	} catch (error) {
		unreadable.add(key);
		failed(error);
	}
	loading.delete(key);
	whenLoaded();
}

/*
 * Where the points of a block come from: it, or a coarser one that has what is in it.  Null:
 * there is nothing in its time, or nothing yet.
 */
function sourceOf(level, block) {
	let fallback = false, asked = false;

	for (let k = level, b = block; k < meta.levels.length; k++, b >>= 2) {
		const kept = inRanges(meta.levels[k].kept, b);

		if (!kept && !inRanges(meta.levels[k].left_out, b))
			return null;
		if (!kept || unreadable.has(k + '-' + b)) {
			fallback = true;
			continue;
		}
		const found = blocks.get(k + '-' + b);

		if (found) {
			found.used = ++useCount;
			return { members: found.members, level: k, block: b, fallback };
		}
		/* until it is there, what is unpacked already is better than nothing */
		if (!asked)
			loadBlock(k, b).catch(failed);
		asked = true;
	}
	return null;
}

/* What went wrong is said in the page, too. */
function failed(error) {
	byId('error').textContent = 'This page is damaged, or this browser is too old: ' +
				    error.message;
	byId('error').hidden = false;
}
