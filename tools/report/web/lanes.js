// SPDX-License-Identifier: GPL-2.0-or-later
/* A lane for each container, the darker the more; and the whole time above the charts. */
'use strict';

const LANE = 18;		/* pixels of CSS, as in report.css */
const ABSENT = -2, UNKNOWN = -1;
let laneKey = 'mean';
let laneOrder = [];		/* members */

/* From the paper to a strong colour: darker, or on black lighter, is more. */
function shadeOf(share) {
	const dark = theme() === 'dark', s = Math.sqrt(Math.min(1, share));
	const from = dark ? [32, 36, 44] : [232, 240, 247];
	const to = dark ? [255, 214, 90] : [8, 48, 107];

	return from.map((value, i) => Math.round(value + (to[i] - value) * s));
}

function shades() {
	const list = [];

	for (let i = 0; i < 256; i++)
		list.push(shadeOf(i / 255));
	return list;
}

/* Sums of what is known in each column of pixels. */
function laneValues(member, width) {
	const sum = new Float64Array(width), nr = new Uint32Array(width);
	const state = new Int8Array(width).fill(ABSENT);
	const table = laneKey === 'mean' ? occupancyTable : rateTable;
	const scale = width / (view.to - view.from), slots = shown.slots;

	eachPoint(shown, member, (at, points, i) => {
		if (!points || !points.note[i])
			return;
		const begin = (shown.first + at) * slots;
		const from = Math.max(0, Math.floor((begin - view.from) * scale));
		const to = Math.min(width, Math.max(from + 1,
				    Math.floor((begin + slots - view.from) * scale)));
		const value = table[points[laneKey][i]];

		for (let x = from; x < to; x++) {
			if (Number.isNaN(value)) {
				if (state[x] === ABSENT)
					state[x] = UNKNOWN;
				continue;
			}
			state[x] = 0;
			sum[x] += value;
			nr[x]++;
		}
	});
	return { sum, nr, state };
}

function paintLane(image, y, lane, most, colours, unknown) {
	for (let x = 0; x < image.width; x++) {
		const at = 4 * (y * image.width + x);
		let colour;

		if (lane.state[x] === ABSENT)
			continue;
		if (lane.state[x] === UNKNOWN)
			colour = (x + 2 * y) % 4 < 2 ? unknown : null;
		else
			colour = colours[Math.min(255, Math.round(255 *
				 lane.sum[x] / lane.nr[x] / most))];
		if (!colour)
			continue;
		image.data.set(colour, at);
		image.data[at + 3] = 255;
	}
}

/* Lanes that can be seen: the canvas has no others, but on paper. */
function lanesSeen() {
	const host = byId('lanes-host');
	const first = printing ? 0 : Math.floor(host.scrollTop / LANE);
	const room = printing ? laneOrder.length : Math.ceil(host.clientHeight / LANE) + 1;

	return { first, nr: Math.max(1, Math.min(room, laneOrder.length - first)) };
}

/* The most of all containers: the same scale for all lanes, so that they can be compared. */
function laneMost() {
	return Math.max(1, ...owners.map((member) => (laneKey === 'mean' ?
		meta.members[member].most : meta.members[member].rate_most) || 0));
}

function drawLanes() {
	const canvas = byId('lanes'), width = Math.max(1, canvas.clientWidth);
	const { first, nr } = lanesSeen(), most = laneMost();
	const image = new ImageData(width, nr), small = new OffscreenCanvas(width, nr);
	const colours = shades(), unknown = theme() === 'dark' ? [110, 60, 60] : [200, 150, 150];

	for (let y = 0; y < nr && first + y < laneOrder.length; y++)
		paintLane(image, y, laneValues(laneOrder[first + y], width), most, colours,
			  unknown);
	small.getContext('2d').putImageData(image, 0, 0);
	canvas.width = width;
	canvas.height = LANE * nr;
	canvas.style.height = LANE * nr + 'px';
	canvas.style.marginTop = LANE * first + 'px';
	const context = canvas.getContext('2d');

	context.imageSmoothingEnabled = false;
	context.drawImage(small, 0, 0, width, canvas.height);
	byId('lane-scale').textContent = 'none … ' + (laneKey === 'mean' ? formatBytes(most) :
							formatRate(most));
}

function laneName(member) {
	const button = element('button', { type: 'button', className: 'lane-name', 'data-member': member,
					   title: meta.members[member].path || '' },
			       nameElement(nameOf(meta.members[member])),
			       element('span', { className: 'number' }));

	if (selected.includes(member))
		button.style.borderLeftColor = colourOf(selected.indexOf(member));
	button.setAttribute('aria-pressed', selected.includes(member));
	button.addEventListener('click', () => toggleMember(member));
	return button;
}

function rebuildLanes() {
	replaceMembers(byId('lane-names'), laneOrder.map(laneName));
	for (const key of ['mean', 'rate'])
		byId('lanes-' + key).setAttribute('aria-pressed', laneKey === key);
}

/* Of the point @at of a window, with the sign of a lower bound; not known, or not there: a dash. */
function laneTextAt(member, at, format) {
	const part = shown.parts.find(({ last }) => last >= shown.first + at);
	const { source } = part, points = source && source.members.get(member);
	const table = laneKey === 'mean' ? occupancyTable : rateTable;

	if (!points)
		return format(null);
	const i = ((shown.first + at) >> 2 * (source.level - shown.level)) - source.block * BLOCK;

	return pointText(format, known(table[points[laneKey][i]]), points.note[i]);
}

/* @index: of the point at the cursor; below 0: there is none.  Only of lanes that are seen. */
function showLaneValues(index) {
	const { first, nr } = lanesSeen(), names = byId('lane-names').children;
	const format = laneKey === 'mean' ? formatBytes : formatRate;

	for (let i = first; i < first + nr && i < laneOrder.length; i++) {
		const m = meta.members[laneOrder[i]];

		names[i].lastChild.textContent = index < 0 ? memberText(m, laneKey) :
						 laneTextAt(laneOrder[i], index, format);
	}
}

/* Sum of what all containers held, over the whole time: it is drawn once. */
let overviewSum = null;

/* One of which nothing is ever known would leave nothing of the others. */
function sumAll(window) {
	const sum = emptySum(window);

	for (const member of owners)
		if (meta.members[member].mean !== null)
			addTo(sum, window, member);
	return sum;
}

function drawOverviewArea(context, width, height) {
	const most = overviewSum.reduce((a, b) => (b > a ? b : a), 1);
	const step = width / overviewSum.length;

	context.fillStyle = theme() === 'dark' ? '#4f7396' : '#9db9d3';
	overviewSum.forEach((value, i) => {
		const y = height * value / most;

		if (value !== null)
			context.fillRect(i * step, height - y, step + 0.5, y);
	});
}

function drawOverviewMarks(context, width, height) {
	const scale = width / Math.max(1, meta.slots);

	context.fillStyle = theme() === 'dark' ? '#ff8a8a' : '#b00020';
	for (const verdict of meta.verdicts)
		context.fillRect(verdict.slot * scale - 1, 0, 2, height / 4);
	context.fillStyle = '#c65a00';
	for (const { begin, end } of meta.incidents)
		context.fillRect(begin * scale, height - 4, Math.max(2, (end - begin) * scale), 4);
	context.fillStyle = theme() === 'dark' ? '#00000088' : '#ffffff99';
	context.fillRect(0, 0, view.from * scale, height);
	context.fillRect(view.to * scale, 0, width, height);
	context.strokeStyle = ink();
	context.strokeRect(view.from * scale + 0.5, 0.5,
			   Math.max(2, (view.to - view.from) * scale) - 1, height - 1);
}

function drawOverview() {
	const canvas = byId('overview');
	const width = canvas.width = Math.max(1, canvas.clientWidth * devicePixelRatio);
	const height = canvas.height = Math.max(1, canvas.clientHeight * devicePixelRatio);
	const context = canvas.getContext('2d');

	if (!overviewSum) {
		const window = windowOf(0, meta.slots);

		if (window.parts.some((part) => part.source === null) && loading.size)
			return;
		overviewSum = sumAll(window);
	}
	drawOverviewArea(context, width, height);
	drawOverviewMarks(context, width, height);
}
