// SPDX-License-Identifier: GPL-2.0-or-later
/* The two charts of the containers that are selected, with uPlot. */
'use strict';

/*
 * Far from each other also for who sees no green, and from the paper: the test of the page
 * simulates it.  Then dashed, then dotted.
 */
const COLOURS = {
	light: ['#0072b2', '#d55e00', '#3c2d00', '#1e1e78', '#f05ac3', '#4b693c', '#0000ff',
		'#7887ff'],
	dark: ['#56b4e9', '#e69f00', '#ffffff', '#00782d', '#005ae1', '#ffff00', '#d26978',
	       '#78e1c3'],
};
const OTHERS = '#888888';	/* all that are not selected, in the stacked view */
const DASHES = [[], [8, 4], [2, 3]];
const darkQuery = matchMedia('(prefers-color-scheme: dark)');
const LINES_MOST = 40;		/* of verdicts */
const PAPER = 680;		/* pixels of CSS that fit on A4 and Letter; as in report.css */
const AXIS = 76;		/* pixels of CSS, as --axis in report.css */
const CHART = 220;		/* height */
let printing = false;

const selected = [];		/* members */
let emphasised = null;		/* member of the entry under the pointer, or with the focus */
let stacked = isSumKnown();	/* the chart of the cache */
let charts = [];		/* { plot, key } */
let rateKey = 'rate';		/* or local, remote: what the second chart shows */
let columns = new Map();	/* member -> columnsOf() */
let shown = null;		/* windowOf() */

/* A lower bound, or a row of which nothing is known, would make a part look like the whole. */
function isSumKnown() {
	return meta.l3_bytes > 0 && owners.every((member) =>
		!meta.members[member].bytes_bounded && meta.members[member].mean !== null);
}

/* All cache of the machine */
function cacheBytes() {
	return meta.l3_bytes * meta.domains;
}

function theme() {
	return darkQuery.matches && !printing ? 'dark' : 'light';
}

function colourOf(place) {
	const list = COLOURS[theme()];

	return list[place % list.length];
}

function ink() {
	return theme() === 'dark' ? '#d8d8d8' : '#222222';
}

function grid() {
	return theme() === 'dark' ? '#3a3a3a' : '#dddddd';
}

const TICKS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 15000, 30000,
	       60000, 120000, 300000, 600000, 900000, 1800000, 3600000, 7200000, 21600000,
	       43200000, 86400000];

function bytesTicks() {
	const ticks = [];

	for (let i = 0; i < 50; i++)
		ticks.push(2 ** i);
	return ticks;
}

function axesOf(format, incrs) {
	const common = { stroke: ink(), grid: { stroke: grid(), width: 1 },
			 ticks: { stroke: grid(), width: 1 } };
	const y = { ...common, side: 1, size: AXIS,
		    values: (u, splits) => splits.map(format) };

	if (incrs)
		y.incrs = incrs;
	/* one axis above all lanes and charts has the labels */
	return [{ ...common, incrs: TICKS, space: LABEL_ROOM, size: 1,
		  ticks: { show: false }, values: (u, splits) => splits.map(() => '') }, y];
}

/* Where nothing was read, it says so. */
function drawGaps(u) {
	const { ctx, bbox } = u;

	ctx.save();
	ctx.fillStyle = theme() === 'dark' ? '#ffffff22' : '#00000018';
	for (const [slot, nr] of meta.gaps) {
		const left = u.valToPos(xBegin + slot, 'x', true);
		const right = u.valToPos(xBegin + slot + nr, 'x', true);
		const begin = Math.max(left, bbox.left);
		const end = Math.min(Math.max(right, left + 1), bbox.left + bbox.width);

		if (end > begin)
			ctx.fillRect(begin, bbox.top, end - begin, bbox.height);
	}
	ctx.restore();
}

/* Least and most of each point of the emphasised member, behind the line of the mean. */
function drawBands(u, low, high) {
	const c = columns.get(emphasised);

	if (!c || !shown || !shown.coarsest)
		return;
	u.ctx.save();
	u.ctx.beginPath();
	u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
	u.ctx.clip();
	const x0 = u.valToPos(xBegin, 'x', true), y0 = u.valToPos(0, 'y', true);
	const dx = u.valToPos(xBegin + 1, 'x', true) - x0;
	const dy = (u.valToPos(u.scales.y.max, 'y', true) - y0) / u.scales.y.max;

	const lows = c[low], highs = c[high];

	u.ctx.fillStyle = colourOf(selected.indexOf(emphasised)) + '55';
	for (let i = 0; i < highs.length; i++)
		if (highs[i] !== null && highs[i] > lows[i])
			u.ctx.fillRect(x0 + (shown.first + i) * shown.slots * dx,
				       y0 + dy * highs[i], shown.slots * dx + 0.5,
				       dy * (lows[i] - highs[i]));
	u.ctx.restore();
}

/* Pixels at which there is a verdict, each once. */
function verdictPixels(u) {
	const { bbox } = u, pixels = new Set();

	for (const verdict of meta.verdicts) {
		const x = Math.round(u.valToPos(xBegin + verdict.slot, 'x', true));

		if (x >= bbox.left && x <= bbox.left + bbox.width)
			pixels.add(x);
	}
	return [...pixels];
}

function drawVerdicts(u) {
	const { ctx, bbox } = u, unit = devicePixelRatio, pixels = verdictPixels(u);
	/* where there are many, they would hide what they are about */
	const length = pixels.length > LINES_MOST ? 0 : bbox.height;

	ctx.save();
	ctx.strokeStyle = ctx.fillStyle = theme() === 'dark' ? '#ff8a8a' : '#b00020';
	ctx.setLineDash([4 * unit, 3 * unit]);
	for (const x of pixels) {
		ctx.beginPath();
		ctx.moveTo(x, bbox.top);
		ctx.lineTo(x, bbox.top + length);
		ctx.stroke();
		ctx.beginPath();
		ctx.moveTo(x - 5 * unit, bbox.top);
		ctx.lineTo(x + 5 * unit, bbox.top);
		ctx.lineTo(x, bbox.top + 7 * unit);
		ctx.fill();
	}
	ctx.restore();
}

/* What is known between two gaps is at least a pixel wide. */
function narrowGaps(u, series, first, last, gaps) {
	let end = u.valToPos(u.data[0][first], 'x', true);

	for (const gap of gaps) {
		gap[0] = Math.max(gap[0], end + 1);
		end = Math.max(...gap);
	}
	return gaps;
}

/* Each point is a step as long as its time: a gap begins at the first unknown one. */
const STEPS = { paths: uPlot.paths.stepped({ align: 1, alignGaps: 1 }), gaps: narrowGaps,
		points: { show: false } };

function lineSeries(place) {
	return { ...STEPS, label: 'series', stroke: colourOf(place), width: 1.5,
		 dash: DASHES[Math.floor(place / COLOURS.light.length) % DASHES.length] };
}

function seriesOf(layered) {
	const lines = selected.map((member, place) => ({
		...lineSeries(place),
		fill: layered && !place ? colourOf(place) + '88' : undefined,
	}));

	if (layered)
		lines.push({ ...STEPS, label: 'others', stroke: OTHERS, width: 1,
			     fill: lines.length ? undefined : OTHERS + '55' });
	return [{}, ...lines];
}

/* On top of each other: from the line of the one below to its own; the others are last. */
function bandsOf() {
	return Array.from({ length: selected.length }, (none, i) =>
		({ series: [i + 2, i + 1], fill: i + 1 < selected.length ?
			colourOf(i + 1) + '88' : OTHERS + '55' }));
}

/* From 0, with some room above what is drawn: also above the band. */
function yRange(most, high) {
	const c = columns.get(emphasised);

	for (const value of c ? c[high] : [])
		most = value > most ? value : most;
	return [0, most > 0 ? most * 1.06 : 1];
}

/* The whole cache, so that a height is a part of it. */
function stackRange(u, from, to) {
	return [0, Math.max(cacheBytes(), to || 0, 1)];
}

function chartWidth(host) {
	return Math.max(120, (printing ? PAPER - byId('axis-row').firstChild.clientWidth :
			      host.clientWidth));
}

function xScale() {
	return { time: false, range: () => [xBegin + view.from, xBegin + view.to] };
}

/* What all charts have in common; @options has the rest. */
function newPlot(host, options) {
	host.replaceChildren();
	return new uPlot({
		width: chartWidth(host), height: CHART,
		legend: { show: false }, padding: [10, 0, 4, 0],
		cursor: { x: false, y: false, drag: { x: true, y: false, setScale: false },
			  points: { show: false },
			  bind: { dblclick: () => () => null } },
		...options,
	}, [[xBegin], ...options.series.slice(1).map(() => [null])], host);
}

function newChart(key, low, high, format, incrs) {
	const layered = stacked && key === 'mean';
	const plot = newPlot(byId(key === 'mean' ? 'chart-mean' : 'chart-rate'), {
		scales: { x: xScale(), y: { range: layered ? stackRange :
						   (u, from, to) => yRange(to, high) } },
		axes: axesOf(format, incrs), series: seriesOf(layered),
		bands: layered ? bandsOf() : [],
		hooks: {
			drawClear: [(u) => {
				drawGaps(u);
				if (!layered)
					drawBands(u, low, high);
			}],
			draw: [drawVerdicts],
			setSelect: [selectDone],
		},
	});

	return { plot, key };
}

function selectDone(u) {
	const { left, width } = u.select;

	if (width < 3)
		return;
	u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
	setView(u.posToVal(left, 'x') - xBegin, u.posToVal(left + width, 'x') - xBegin);
}

function emptySum(window) {
	return new Array(window.last - window.first + 1).fill(0);
}

/* Adds what a member held; where it was there and that is not known, the sum is null. */
function addTo(sum, window, member) {
	eachPoint(window, member, (at, points, i) => {
		if (!points || !points.note[i] || sum[at] === null)
			return;
		const value = known(heldAt(points, i));

		sum[at] = value === null ? null : sum[at] + value;
	});
}

/* Sums from below: each of the selected, then all others. */
function stackOf() {
	const sum = emptySum(shown);
	const stack = selected.map((member) => {
		addTo(sum, shown, member);
		return sum.slice();
	});

	for (const member of owners)
		if (!selected.includes(member))
			addTo(sum, shown, member);
	return [...stack, sum];
}

function chartData(key) {
	return [xsOf(shown), ...(stacked && key === 'mean' ? stackOf() :
				 selected.map((member) => columns.get(member)[key])).map(stepsOf)];
}

function rebuildCharts() {
	for (const plot of [...charts.map((chart) => chart.plot), ...memoryPlots])
		plot.destroy();
	charts = [newChart('mean', 'least', 'most', formatBytes, bytesTicks()),
		  newChart(rateKey, rateKey, rateKey === 'rate' ? 'rateMost' : rateKey,
			   formatRate)];
	for (const key of ['rate', 'local', 'remote'])
		byId('show-' + key).setAttribute('aria-pressed', rateKey === key);
	rebuildMemory();
	rebuildLegend();
}

function drawCharts() {
	columns = new Map(selected.map((member) => [member, columnsOf(shown, member)]));
	for (const { plot, key } of charts)
		plot.setData(chartData(key));
	drawMemory();
}

function resizeCharts() {
	for (const plot of [...charts.map((chart) => chart.plot), ...memoryPlots])
		plot.setSize({ width: chartWidth(plot.root.parentNode), height: CHART });
}

/* What tells a line from others: its colour and how it is drawn. */
function swatchOf(place) {
	const swatch = element('span', { className: 'swatch' });

	swatch.style.borderTopColor = colourOf(place);
	swatch.style.borderTopStyle = ['solid', 'dashed', 'dotted'][
		Math.floor(place / COLOURS.light.length) % 3];
	return swatch;
}

/* A line: colour, name, and where the value comes. */
function legendEntry(place, name) {
	return element('li', { className: 'entry' }, swatchOf(place), name,
		       element('span', { className: 'number' }));
}

function emphasise(member) {
	if (member === emphasised)
		return;
	emphasised = member;
	for (const { plot } of charts)
		plot.redraw();
	redrawCursor();
}

/* With its band in the charts, while it has the pointer or the focus. */
function memberEntry(member, place) {
	const entry = legendEntry(place, nameElement(nameOf(meta.members[member])));

	entry.tabIndex = 0;
	for (const type of ['pointerenter', 'focus'])
		entry.addEventListener(type, () => emphasise(member));
	for (const type of ['pointerleave', 'blur'])
		entry.addEventListener(type, () => emphasise(null));
	return entry;
}

function rebuildLegend() {
	emphasised = null;
	for (const key of ['mean', 'rate'])
		byId('legend-' + key).replaceChildren(...selected.map(memberEntry));
	if (!stacked)
		return;
	const others = legendEntry(0, element('bdi', {}, 'all others'));

	others.firstChild.style.borderTop = '4px solid ' + OTHERS;
	byId('legend-mean').append(others);
}

/* All that is known of the emphasised one at the cursor. */
function detailText(index) {
	const c = columns.get(emphasised);

	if (!c || index < 0 || c.mean[index] === null && c.rate[index] === null)
		return '';
	return [formatBytes(c.mean[index]) + ' (' + formatBytes(c.least[index]) + ' … ' +
		formatBytes(c.most[index]) + ')', formatRate(c.rate[index]) + ' (most ' +
		formatRate(c.rateMost[index]) + ')', ...(c.local[index] === null ? [] :
		['local ' + formatRate(c.local[index]) + ', remote ' +
		 formatRate(c.remote[index])]), noteText(c.note[index])]
		.filter((part) => part).join(', ');
}

/* With the sign of a lower bound where it is one. */
function pointText(format, value, note) {
	return (value !== null && note & NOTE_PARTIAL ? '>' : '') + format(value);
}

/* Of the recording, where there is no cursor. */
function meanText(key, m) {
	if (key === 'remote')
		return formatRate(remoteOf(m));
	return memberText(m, key);
}

function legendText(key, member, index) {
	const c = columns.get(member);

	if (index < 0 || !c)
		return meanText(key, meta.members[member]);
	if (stacked && key === 'mean' && c.held[index] !== null && !(c.note[index] & NOTE_PARTIAL))
		return formatBytes(c.held[index]) + ', ' +
			formatShare(c.held[index], cacheBytes());
	return pointText(key === 'mean' ? formatBytes : formatRate, c[key][index], c.note[index]);
}

/* Mean over the recording of all that are not selected: one that was not there held nothing. */
function othersMean() {
	const others = owners.filter((member) => !selected.includes(member))
		.map((member) => meta.members[member]);

	return isSumKnown() ? others.reduce((sum, m) => sum + m.mean * m.slots / meta.slots, 0) :
			      null;
}

/* The last layer of the stack, at the cursor */
function othersText(index) {
	if (index < 0)
		return formatBytes(othersMean());
	const layers = charts[0].plot.data;
	const top = layers[layers.length - 1][index];
	const below = layers.length < 3 ? 0 : layers[layers.length - 2][index];

	return top === null || top === undefined ? '–' : formatBytes(top - below) + ', ' +
		formatShare(top - below, cacheBytes());
}

/* @index: of the point at the cursor; below 0: there is none */
function showLegends(index) {
	for (const { key } of charts)
		[...byId('legend-' + (key === 'mean' ? key : 'rate')).children]
			.forEach((entry, place) => {
				entry.lastChild.textContent = place < selected.length ?
					legendText(key, selected[place], index) :
					othersText(index);
			});
}
