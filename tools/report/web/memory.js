// SPDX-License-Identifier: GPL-2.0-or-later
/* The chart of memory channels: their sum beside that of all RMIDs, or each one. */
'use strict';

const SHARE_LEAST = 57;		/* of NOTE_SHARE: below, a difference would be of other times */

let memoryEach = false;
let memoryPlots = [];		/* one, or none */
let memoryRows = [];		/* { label, values, text } of each line */

function membersOf(kind) {
	return meta.members.map((m, i) => i).filter((i) => meta.members[i].kind === kind);
}

const channelMembers = membersOf('channel');
const [channelsMember] = membersOf('channels'), [rmidsMember] = membersOf('rmids');

/* What no RMID accounts for: where both are known, and not one of them is of a model. */
function unaccounted(all, rmids) {
	const known = (note) => !(note & NOTE_PARTIAL) && (note & NOTE_SHARE) >= SHARE_LEAST;

	return all.rate.map((rate, i) =>
		(meta.emulated || rate === null || rmids.rate[i] === null ||
		 !known(all.note[i]) || !known(rmids.note[i]) ? null : rate - rmids.rate[i]));
}

/* Of channels, local is what was read. */
function wayText(c) {
	return (i) => (c.rate[i] === null ? '–' : formatRate(c.rate[i]) + ' (read ' +
		formatRate(c.local[i]) + ', written ' + formatRate(c.remote[i]) + ')');
}

function plainText(values) {
	return (i) => formatRate(values[i] === undefined ? null : values[i]);
}

function memoryLines() {
	if (memoryEach)
		return channelMembers.map((member) => {
			const c = columnsOf(shown, member);

			return { label: meta.members[member].label, values: c.rate,
				 text: wayText(c) };
		});
	const all = columnsOf(shown, channelsMember), rmids = columnsOf(shown, rmidsMember);
	const rest = unaccounted(all, rmids);

	return [{ label: 'all memory channels', values: all.rate, text: wayText(all) },
		{ label: 'all RMIDs', values: rmids.rate, text: plainText(rmids.rate) },
		{ label: 'no RMID accounts for', values: rest, text: plainText(rest) }];
}

/* A difference may be below 0. */
function memoryRange(u, from, to) {
	return [Math.min(0, from || 0), to > 0 ? to * 1.06 : 1];
}

function memorySeries() {
	const nr = memoryEach ? channelMembers.length : 3;

	return [{}, ...Array.from({ length: nr }, (none, place) => lineSeries(place))];
}

function memoryLegend() {
	byId('memory-legend').replaceChildren(...memoryLines().map((line, place) =>
		legendEntry(place, element('bdi', {}, line.label))));
}

function rebuildMemory() {
	byId('memory-part').hidden = channelsMember === undefined;
	byId('memory-sums').setAttribute('aria-pressed', !memoryEach);
	byId('memory-each').setAttribute('aria-pressed', memoryEach);
	if (channelsMember === undefined)
		return;
	memoryPlots = [newPlot(byId('chart-memory'), {
		scales: { x: xScale(), y: { range: memoryRange } },
		axes: axesOf(formatRate), series: memorySeries(),
		hooks: { drawClear: [drawGaps], draw: [drawVerdicts],
			 setSelect: [selectDone] },
	})];
	if (shown)
		memoryLegend();
}

function drawMemory() {
	if (!memoryPlots.length)
		return;
	memoryRows = memoryLines();
	memoryPlots[0].setData([xsOf(shown), ...memoryRows.map((line) => stepsOf(line.values))]);
	if (byId('memory-legend').children.length !== memoryRows.length)
		memoryLegend();
}

/* @index: of the point at the cursor; below 0: there is none */
function showMemory(index) {
	[...byId('memory-legend').children].forEach((entry, place) => {
		entry.lastChild.textContent = index < 0 || !memoryRows[place] ? '' :
					      memoryRows[place].text(index);
	});
}
