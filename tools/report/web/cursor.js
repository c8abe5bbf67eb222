// SPDX-License-Identifier: GPL-2.0-or-later
/* What goes through lanes and charts: the axis of time, incidents, and the cursor with its values. */
'use strict';

const MARKS_MOST = 40;		/* incidents; more would hide what is under them */
const LABEL_ROOM = 90;		/* pixels of CSS from one label of the axis to the next */
let cursor = null;		/* slot; null: values are means of the recording */

/* In percent of what is seen. */
function percentOf(slot) {
	return 100 * (slot - view.from) / (view.to - view.from);
}

function axisStep(width) {
	const least = LABEL_ROOM * (view.to - view.from) / width;

	return TICKS.find((step) => step >= least) || TICKS[TICKS.length - 1];
}

function drawAxis() {
	const canvas = byId('axis'), ratio = devicePixelRatio;
	const width = Math.max(1, canvas.clientWidth), height = canvas.clientHeight;
	const context = canvas.getContext('2d'), step = axisStep(width);
	const scale = width / (view.to - view.from);

	canvas.width = width * ratio;
	canvas.height = height * ratio;
	context.scale(ratio, ratio);
	context.font = '12px system-ui, sans-serif';
	context.fillStyle = ink();
	context.strokeStyle = grid();
	for (let x = Math.ceil((xBegin + view.from) / step) * step; x <= xBegin + view.to;
	     x += step) {
		const text = formatX(x, step), at = (x - xBegin - view.from) * scale;
		const room = context.measureText(text).width;

		context.fillText(text, Math.min(Math.max(0, at - room / 2), width - room), 12);
		context.strokeRect(at, 15, 0, height);
	}
}

/* An incident through everything, with its number in the list of what happened. */
function markOf(place) {
	const incident = meta.incidents[storyOrder[place]];
	const from = Math.max(0, percentOf(incident.begin));
	const mark = element('div', { className: 'mark' });

	mark.style.left = from + '%';
	mark.style.width = Math.min(100, percentOf(incident.end)) - from + '%';
	mark.classList.toggle('current', place === storyAt);
	if (place < STORY_FIRST)
		mark.append(element('span', {}, String(place + 1)));
	return mark;
}

function drawMarks() {
	const seen = [];

	for (let place = 0; place < storyOrder.length && seen.length < MARKS_MOST; place++) {
		const { begin, end } = meta.incidents[storyOrder[place]];

		if (end >= view.from && begin <= view.to)
			seen.push(place);
	}
	byId('incident-marks').replaceChildren(...seen.map(markOf));
}

/* Of the point at the cursor, in columns; below 0: there is none. */
function cursorIndex() {
	if (cursor === null || cursor < view.from || cursor > view.to)
		return -1;
	return Math.min(shown.last, Math.floor(cursor / shown.slots)) - shown.first;
}

function drawCursor() {
	const line = byId('cursor'), index = cursorIndex();

	line.hidden = index < 0;
	line.style.left = percentOf(cursor) + '%';
	byId('cursor-time').textContent = index < 0 ? 'mean of all' :
		formatSlot((index + shown.first) * shown.slots);
	byId('detail').textContent = detailText(index);
	showLegends(index);
	showLaneValues(index);
	showMemory(index);
}

function setCursor(slot) {
	if (slot === cursor)
		return;
	cursor = slot;
	redrawCursor();
}

/* By points, with the keyboard: from the middle on. */
function stepCursor(by) {
	const at = cursorIndex() < 0 ? (view.from + view.to) / 2 : cursor;
	const slots = shown.slots;

	setCursor(Math.min(Math.max((Math.floor(at / slots) + by) * slots,
				    Math.ceil(view.from / slots) * slots), view.to));
}

function watchCursor() {
	const host = byId('time');

	host.addEventListener('pointermove', (event) => {
		const box = byId('marks').getBoundingClientRect();
		const share = (event.clientX - box.left) / box.width;

		setCursor(share >= 0 && share < 1 ?
			  view.from + share * (view.to - view.from) : null);
	});
	host.addEventListener('pointerleave', () => setCursor(null));
}
