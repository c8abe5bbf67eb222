// SPDX-License-Identifier: GPL-2.0-or-later
/* What happened, first on the page: incidents as sentences, the costliest first. */
'use strict';

const STORY_FIRST = 5;
const STORY_CAUSES = 2;		/* in a sentence: the second if it cost a part of the first */
const STORY_PART = 4;
const GAPS_TOLD = 0.001;	/* of the recording */
let storyAt = -1;		/* place in storyOrder of the incident that the charts show */

/* What cost more CPU time; where that is unknown, what was slower. */
function costsMore(a, b) {
	const x = meta.incidents[a], y = meta.incidents[b];

	return (y.lost ?? -1) - (x.lost ?? -1) || y.worst - x.worst || a - b;
}

const storyOrder = meta.incidents.map((incident, i) => i).sort(costsMore);

/* An estimate: whole percents. */
function wholePercent(share) {
	return Math.round(100 * share) + ' %';
}

/* What a neighbour cost through a resource, in all L3 domains. */
function causesOf(incident) {
	const causes = new Map();

	for (const cost of incident.costs) {
		const key = (cost.member ?? cost.label) + ' ' + cost.resource;
		const cause = causes.get(key) || { ...cost, lost: 0 };

		cause.lost += cost.lost;
		causes.set(key, cause);
	}
	return [...causes.values()].sort((a, b) => b.lost - a.lost);
}

/* "batch through cache (2.8 s)" */
function causeNodes(cause, known) {
	return [toldName(cause), ' through ' +
		(cause.resource === 'CPU' ? 'the CPU' : cause.resource) +
		(known ? ' (' + formatSpan(cause.lost / 1e6) + ')' : '')];
}

function causesNodes(incident) {
	const causes = causesOf(incident), known = incident.lost !== undefined;
	const told = causes.slice(0, STORY_CAUSES)
		.filter(({ lost }) => STORY_PART * lost >= causes[0].lost);
	const left = causes.length - told.length;
	const nodes = told.flatMap((cause, i) =>
		[i ? ', ' : '', ...causeNodes(cause, known && causes.length > 1)]);

	if (left)
		nodes.push(' and ' + left + (left === 1 ? ' other' : ' others'));
	else if (incident.clipped)
		nodes.push(' and others');
	return nodes;
}

/* How it ended, if not by itself */
function endText(incident) {
	return incident.open ? ', to the end' : incident.unknown ? ', then unknown' : '';
}

function whenText(incident) {
	if (incident.before && incident.open)
		return 'The complete recording, ' +
			formatSpan(incident.end - incident.begin) + ': ';
	return (incident.before ? 'before ' : '') + formatTime(incident.begin, 1000) +
		', ' + (incident.before ? 'more than ' : '') +
		formatSpan(incident.end - incident.begin) +
		endText(incident) + ': ';
}

/* CPU time: one from before the begin may have cost more. */
function lostText(incident) {
	return incident.lost === undefined ? '; the CPU time lost is unknown' :
	       '; ' + (incident.before ? 'more than ' : '') + formatSpan(incident.lost / 1e6) +
	       ' of CPU time lost';
}

/* "10:03:07, 41 s: web was up to 18 % slower because of batch through cache; ..." */
function sentenceOf(incident) {
	return [element('span', { className: 'when' }, whenText(incident)),
		toldName(incident),
		' was up to ' + wholePercent(incident.worst) + ' slower because of ',
		...causesNodes(incident), lostText(incident)];
}

function showStory(place) {
	storyAt = place;
	showIncident(storyOrder[place]);
	[...byId('story').children].forEach((item, i) => {
		if (i === place)
			item.firstChild.setAttribute('aria-current', 'true');
		else
			item.firstChild.removeAttribute('aria-current');
	});
}

function storyItem(n, place) {
	const button = element('button', { type: 'button' },
			       ...sentenceOf(meta.incidents[n]));

	button.addEventListener('click', () => {
		showStory(place);
		byId('charts-part').scrollIntoView({ block: 'nearest' });
	});
	return element('li', {}, button);
}

/* What cannot be told by this recording, as the parts of a list. */
function unjudged() {
	const parts = [];
	const little = owners.map((member) => meta.members[member])
		.filter((m) => m.kind === 'container' && !m.judged).length;

	if (!meta.counters)
		parts.push('slowdown through cache and memory (the recording has no complete performance counters)');
	else if (little)
		parts.push('slowdown through cache and memory of ' + little +
			   (little === 1 ? ' container, which' : ' containers, which') + ' ran too little');
	if (!owners.some((member) => meta.members[member].waited !== null))
		parts.push('slowdown through the CPU (the recording has no waits)');
	if (meta.gap_slots > GAPS_TOLD * meta.slots)
		parts.push(formatSpan(meta.gap_slots) + ' without readings');
	return parts;
}

function noStoryText() {
	const parts = unjudged();

	if (!meta.judged)
		return 'Whether a container was slower because of its neighbours is unknown: the recording has too few samples.';
	return 'No container was found 5 % slower or more because of its neighbours' +
		(parts.length ? '; not judged: ' + parts.join(', ') + '.' : '.');
}

function headlineText() {
	const nr = meta.incidents.length + meta.incidents_left_out;
	const lost = meta.incidents.reduce((sum, i) => sum + (i.lost ?? 0), 0);
	const bound = meta.incidents_left_out ||
		      meta.incidents.some((i) => i.before || i.lost === undefined);

	if (!nr)
		return 'No incident found';
	return nr + (nr === 1 ? ' incident' : ' incidents') + (lost ? ': ' +
		(bound ? 'more than ' : '') + formatSpan(lost / 1e6) + ' of CPU time lost' : '');
}

/* Verdicts have a table of their own, below. */
function fillStoryVerdicts() {
	const nr = meta.verdicts.length;
	const button = byId('story-verdicts');

	button.hidden = !nr;
	button.textContent = nr === 1 ? '1 verdict on who took cache or CPU time' :
				nr + ' verdicts on who took cache or CPU time';
	button.addEventListener('click', () => {
		byId('verdicts-title').scrollIntoView();
		byId('verdicts').querySelector('button').focus();
	});
}

function fillStory() {
	const more = byId('story-more'), left = storyOrder.length - STORY_FIRST;
	const parts = unjudged();

	byId('headline').textContent = headlineText();
	byId('no-story').hidden = !!storyOrder.length;
	byId('no-story').textContent = noStoryText();
	byId('time').classList.toggle('quiet', !storyOrder.length);
	byId('story').append(...storyOrder.slice(0, STORY_FIRST).map(storyItem));
	byId('story-limits').hidden = !storyOrder.length;
	byId('story-limits').textContent = 'Slowdown through cache and memory is an estimate.' +
		(parts.length ? ' Not judged: ' + parts.join(', ') + '.' : '');
	more.hidden = left <= 0;
	more.textContent = 'All ' + storyOrder.length + ' incidents';
	more.addEventListener('click', () => {
		more.hidden = true;
		byId('time').classList.toggle('quiet', !storyOrder.length);
	byId('story').append(...storyOrder.slice(STORY_FIRST).map((n, i) =>
			storyItem(n, i + STORY_FIRST)));
		byId('story').children[STORY_FIRST].firstChild.focus();
	});
	fillStoryVerdicts();
}

/* The next one of what happened; without incidents, the next verdict. */
function stepStory(by) {
	const n = storyOrder.length;

	if (!n)
		stepVerdict(by);
	else
		showStory(((storyAt < 0 && by < 0 ? 0 : storyAt) + by + n) % n);
}
