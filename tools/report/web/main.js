// SPDX-License-Identifier: GPL-2.0-or-later
/* What keys, wheel and pointer do, and when what is drawn. */
'use strict';

const SELECTED_FIRST = 8;
let drawDue = 0;			/* what the browser calls the frame in which it is done */
let cursorDue = false;
let shownVerdict = -1;
let painted = false;

function drawNow() {
	cancelAnimationFrame(drawDue);
	drawDue = 0;
	try {
		draw();
	} catch (error) {
		failed(error);
		throw error;
	}
}

/* Once a frame of the screen, however much has changed. */
function redraw() {
	if (!drawDue)
		drawDue = requestAnimationFrame(drawNow);
}

/* Only the cursor and its values. */
function redrawCursor() {
	if (cursorDue || drawDue)
		return;
	cursorDue = true;
	requestAnimationFrame(() => {
		cursorDue = false;
		drawCursor();
	});
}

function draw() {
	shown = windowOf(view.from, view.to);
	/* an empty picture would only be in the way of the first one */
	if (!painted && loading.size)
		return;
	drawAxis();
	drawMarks();
	drawCharts();
	drawLanes();
	drawOverview();
	drawCursor();
	showStatus();
	if (!painted && !loading.size) {
		painted = true;
		/* the frame is on the screen before the next one begins */
		requestAnimationFrame(() => {
			document.documentElement.dataset.painted = performance.now().toFixed(0);
			rebuildRows();
			fillVerdicts();
			fillIncidents();
			fillWaits();
			fillGaps();
			document.documentElement.dataset.complete = 1;
		});
	}
}

function showStatus() {
	const grain = slotsOf(shown.coarsest);

	byId('range').textContent = formatSlot(view.from) + ' to ' + formatSlot(view.to) +
		' (' + formatSpan(view.to - view.from) + ')';
	byId('grain').textContent = 'A point is ' + formatSpan(shown.slots) + '.' +
		(shown.fallback ? ' In a part of this view a point is ' + formatSpan(grain) +
		 ': finer ones are not in this page.' : '') +
		(loading.size ? ' Unpacking…' : '');
	document.documentElement.dataset.from = view.from;
	document.documentElement.dataset.to = view.to;
	document.documentElement.dataset.level = shown.level;
	document.documentElement.dataset.coarsest = shown.coarsest;
	document.documentElement.dataset.busy = loading.size;
}

/* A link to this page with a moment: #FROM,TO in ms. */
let hashTimer = 0;

function followHash() {
	const hash = /^#(\d+),(\d+)$/.exec(location.hash);

	if (hash)
		Object.assign(view, clampView(Number(hash[1]), Number(hash[2])));
}

function keepHash() {
	/* of what is in memory, the next load has another begin */
	if (meta.from_memory)
		return;
	clearTimeout(hashTimer);
	hashTimer = setTimeout(() => {
		try {
			history.replaceState(null, '', '#' + Math.floor(view.from) + ',' +
					     Math.ceil(view.to));
		} catch {
			/* a page in a frame may not; the view works all the same */
		}
	}, 300);
}

function setView(from, to) {
	Object.assign(view, clampView(from, to));
	keepHash();
	redraw();
}

function zoom(factor, share) {
	const span = view.to - view.from, at = view.from + span * share;
	const next = Math.max(SPAN_LEAST, Math.min(meta.slots, span * factor));

	setView(at - next * share, at - next * share + next);
}

function pan(share) {
	const by = (view.to - view.from) * share;

	setView(view.from + by, view.to + by);
}

function selectMembers(members) {
	selected.splice(0, selected.length, ...members);
	rebuildCharts();
	rebuildTable();
}

function toggleMember(member) {
	const place = selected.indexOf(member);

	selectMembers(place < 0 ? [...selected, member] :
				  selected.filter((other) => other !== member));
}

function setStacked(on) {
	stacked = on;
	byId('stacked').setAttribute('aria-pressed', on);
	rebuildCharts();
	redraw();
}

function setRateKey(key) {
	rateKey = key;
	rebuildCharts();
	redraw();
}

function setMemoryEach(on) {
	memoryEach = on;
	rebuildCharts();
	redraw();
}

function stepVerdict(by) {
	const n = meta.verdicts.length;

	if (n)
		showVerdict(((shownVerdict < 0 && by < 0 ? 0 : shownVerdict) + by + n) % n);
}

const KEYS = {
	'+': () => zoom(0.5, 0.5), '=': () => zoom(0.5, 0.5), '-': () => zoom(2, 0.5),
	ArrowLeft: (e) => pan(e.shiftKey ? -0.9 : -0.1),
	ArrowRight: (e) => pan(e.shiftKey ? 0.9 : 0.1),
	Home: () => setView(0, view.to - view.from),
	End: () => setView(meta.slots - (view.to - view.from), meta.slots),
	0: () => setView(0, meta.slots), n: () => stepStory(1), p: () => stepStory(-1),
	s: () => setStacked(!stacked),
	',': () => stepCursor(-1), '.': () => stepCursor(1),
	'<': () => stepCursor(-10), '>': () => stepCursor(10),
};

const SCROLLS = ['ArrowLeft', 'ArrowRight', 'Home', 'End'];

/* In a text it edits, and in a table it scrolls. */
function isOthersKey({ key, target }) {
	return target.closest('input[type=search]') ||
	       (SCROLLS.includes(key) && target.closest('.wide'));
}

function onKey(event) {
	const action = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;

	if (!action || isOthersKey(event) || event.ctrlKey || event.metaKey || event.altKey)
		return;
	event.preventDefault();
	action(event);
}

/* The wheel zooms where the pointer is; sideways, or with Shift, it moves. */
function onWheel(event, box) {
	const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
	const unit = event.deltaMode === 1 ? 20 : 1;
	const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);

	event.preventDefault();
	if (sideways || event.shiftKey)
		pan((event.deltaX || event.deltaY) * unit / box.width);
	else
		zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * unit * 0.003))), share);
}

function watchWheel(host, boxOf, needsKey) {
	host.addEventListener('wheel', (event) => {
		if (!needsKey || event.ctrlKey || event.shiftKey)
			onWheel(event, boxOf());
	}, { passive: false });
}

/* Calls @move until the button is up, or the drag is taken away, and @up in the first case. */
function followDrag(host, { pointerId }, move, up) {
	const ended = new AbortController(), { signal } = ended;

	host.setPointerCapture(pointerId);
	host.addEventListener('pointermove', move, { signal });
	host.addEventListener('pointerup', up, { signal });
	for (const type of ['pointerup', 'pointercancel', 'lostpointercapture'])
		host.addEventListener(type, () => ended.abort(), { signal });
}

/* Drag sideways: the time goes with the pointer. */
function watchDrag(host, needsShift) {
	host.addEventListener('pointerdown', (down) => {
		const begin = { ...view };

		if (down.button || (needsShift && !down.shiftKey))
			return;
		down.preventDefault();
		down.stopPropagation();
		followDrag(host, down, (event) => {
			const by = (down.clientX - event.clientX) / host.clientWidth *
				   (begin.to - begin.from);

			setView(begin.from + by, begin.to + by);
		}, () => {});
	}, true);
}

/* In the whole time: what is dragged over becomes the view; a click moves it there. */
function watchOverview() {
	const host = byId('overview');
	const slotAt = (event) => (event.clientX - host.getBoundingClientRect().left) /
				  host.clientWidth * meta.slots;

	host.addEventListener('pointerdown', (down) => {
		const begin = slotAt(down), span = view.to - view.from;

		if (down.button)
			return;
		followDrag(host, down, (event) => setView(Math.min(begin, slotAt(event)),
							  Math.max(begin, slotAt(event))), (up) => {
			if (Math.abs(up.clientX - down.clientX) < 3)
				setView(begin - span / 2, begin + span / 2);
		});
	});
}

function rebuildAll() {
	rebuildCharts();
	rebuildTable();
	redraw();
}

/* On paper: all lanes, all gaps, light colours, and charts as wide as a page. */
function setPrinting(on) {
	printing = on;
	byId('gap-part').open = on;
	rebuildCharts();
	rebuildRows();
	draw();
}

function watchAll() {
	const over = () => document.querySelector('#chart-mean .u-over')
		.getBoundingClientRect();

	document.addEventListener('keydown', onKey);
	for (const id of ['chart-mean', 'chart-rate', 'chart-memory']) {
		watchWheel(byId(id), over, false);
		watchDrag(byId(id), true);
		byId(id).addEventListener('dblclick', () => setView(0, meta.slots));
	}
	watchWheel(byId('overview'), () => byId('overview').getBoundingClientRect(), false);
	watchWheel(byId('lanes'), () => byId('lanes').getBoundingClientRect(), true);
	watchDrag(byId('lanes'), false);
	watchOverview();
	watchCursor();
	darkQuery.addEventListener('change', rebuildAll);
	addEventListener('hashchange', () => { followHash(); redraw(); });
	addEventListener('resize', () => { resizeCharts(); redraw(); });
	addEventListener('beforeprint', () => setPrinting(true));
	addEventListener('afterprint', () => setPrinting(false));
	byId('lanes-host').addEventListener('scroll', redraw);
	byId('filter').addEventListener('input', rebuildTable);
}

function watchButtons() {
	const on = (id, action) => byId(id).addEventListener('click', action);

	on('whole', () => setView(0, meta.slots));
	on('in', () => zoom(0.5, 0.5));
	on('out', () => zoom(2, 0.5));
	on('left', () => pan(-0.5));
	on('right', () => pan(0.5));
	on('all-columns', () => byId('all-columns').setAttribute('aria-pressed',
		byId('members').classList.toggle('all')));
	on('stacked', () => setStacked(!stacked));
	for (const key of ['rate', 'local', 'remote'])
		on('show-' + key, () => setRateKey(key));
	on('memory-sums', () => setMemoryEach(false));
	on('memory-each', () => setMemoryEach(true));
	for (const key of ['mean', 'rate'])
		on('lanes-' + key, () => { laneKey = key; rebuildLanes(); redraw(); });
}

function firstSelection() {
	return meta.members.map((m, i) => i)
		.filter((i) => meta.members[i].kind === 'container' &&
			       meta.members[i].mean !== null)
		.sort((a, b) => meta.members[b].mean - meta.members[a].mean)
		.slice(0, SELECTED_FIRST);
}

function start() {
	followHash();
	/* the first blocks are unpacked while the rest of the page is made */
	windowOf(view.from, view.to);
	whenLoaded = () => (painted ? redraw() : drawNow());
	document.body.classList.add('scripted');
	fillHead();
	fillStory();
	watchAll();
	watchButtons();
	byId('no-local').hidden = owners.some((i) => meta.members[i].local !== null);
	byId('show-local').disabled = byId('show-remote').disabled = !byId('no-local').hidden;
	selected.push(...firstSelection());
	byId('stacked').setAttribute('aria-pressed', stacked);
	rebuildAll();
}

try {
	start();
} catch (error) {
	failed(error);
	throw error;
}
