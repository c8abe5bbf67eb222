// SPDX-License-Identifier: GPL-2.0-or-later
/* What goes through lanes and charts: the axis of time, incidents, and the cursor with its values. */
'use strict';

const NUMBER_ROOM = 16;		/* pixels of CSS of an incident's number */
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
	const width = Math.max(1, canvas.clientWidth);
	const context = canvas.getContext('2d'), step = axisStep(width);
	const scale = width / (view.to - view.from);

	canvas.width = width * ratio;
	canvas.height = canvas.clientHeight * ratio;
	context.scale(ratio, ratio);
	context.font = '12px system-ui, sans-serif';
	context.fillStyle = ink();
	context.strokeStyle = grid();
	for (let x = Math.ceil((xBegin + view.from) / step) * step; x <= xBegin + view.to;
	     x += step) {
		const text = formatX(x, step), at = (x - xBegin - view.from) * scale;
		const room = context.measureText(text).width;

		context.fillText(text, Math.min(Math.max(0, at - room / 2), width - room), 12);
		context.strokeRect(at, 15, 0, 4);
	}
}

/* Times with an incident, in percent of what is seen: those closer than a pixel are one. */
function incidentSpans(pixel) {
	const spans = [];

	for (const { begin, end } of [...meta.incidents].sort((a, b) => a.begin - b.begin)) {
		const from = Math.max(0, percentOf(begin)), to = Math.min(100, percentOf(end));
		const last = spans[spans.length - 1];

		if (to < 0 || from > 100)
			continue;
		if (last && from <= last.to + pixel)
			last.to = Math.max(last.to, to);
		else
			spans.push({ from, to });
	}
	return spans;
}

function spanElement({ from, to }, className) {
	const mark = element('div', { className });

	mark.style.left = from + '%';
	mark.style.width = to - from + '%';
	return mark;
}

/* Numbers in the list of what happened, where the incidents begin: { from, places }. */
function incidentNumbers(pixel) {
	const numbers = [];

	storyOrder.slice(0, STORY_FIRST).forEach((n, place) => {
		const { begin, end } = meta.incidents[n], from = Math.max(0, percentOf(begin));

		if (percentOf(end) < 0 || from > 100)
			return;
		const near = numbers.find((other) =>
			Math.abs(other.from - from) < NUMBER_ROOM * pixel);

		if (near)
			near.places.push(place);
		else
			numbers.push({ from, places: [place] });
	});
	return numbers;
}

function numberElement({ from, places }) {
	const number = element('span', { className: 'mark-number' },
			       places.map((place) => place + 1).join(' '));

	/* one at the end of the axis has its room before it */
	number.style.left = `min(${from}%, 100% - ${NUMBER_ROOM * places.length}px)`;
	return number;
}

function drawMarks() {
	const pixel = 100 / Math.max(1, byId('axis').clientWidth);
	const current = meta.incidents[storyOrder[storyAt]];
	const marks = incidentSpans(pixel).map((span) => spanElement(span, 'mark'));

	if (current && percentOf(current.end) >= 0 && percentOf(current.begin) <= 100)
		marks.push(spanElement({ from: Math.max(0, percentOf(current.begin)),
					 to: Math.min(100, percentOf(current.end)) },
				       'mark current'));
	byId('incident-marks').replaceChildren(...marks,
		...incidentNumbers(pixel).map(numberElement));
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
