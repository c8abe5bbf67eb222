// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers, times and elements.  All text goes into the page as text, never as markup. */
'use strict';

const meta = JSON.parse(document.getElementById('meta').textContent);

/* Members that are rows: memory channels and sums are none. */
const owners = meta.members.map((m, i) => i).filter((i) =>
	!['channel', 'channels', 'rmids'].includes(meta.members[i].kind));

/* An element with properties and children, strings among them. */
function element(name, properties, ...children) {
	const e = document.createElement(name);

	for (const [key, value] of Object.entries(properties || {}))
		if (key in e)
			e[key] = value;
		else
			e.setAttribute(key, value);
	e.append(...children);
	return e;
}

/* A name that anybody may have chosen: its direction ends with it. */
function nameElement(text) {
	return element('bdi', { dir: 'auto' }, text === null ? 'a container of unknown name' :
							       text);
}

/* The name of a member, or what is known of one without a name. */
function nameOf(m) {
	if (m.label !== null)
		return m.label;
	if (m.path)
		return 'unnamed, cgroup ' + m.path;
	if (m.image)
		return 'unnamed, image ' + m.image;
	if (m.kind !== 'container')
		return '(' + m.kind + ')';
	return 'unnamed container, there ' + formatTime(m.first, 1000) + ' to ' +
		formatTime(Math.min(m.last, meta.slots), 1000);
}

/* Of what a verdict or an incident tells: its member may have no name. */
function toldName(told) {
	return nameElement(told.label === null && told.member !== undefined ?
			   nameOf(meta.members[told.member]) : told.label);
}

/* In place of what was there; the focus stays with the same member, in data-member. */
function replaceMembers(host, elements) {
	const focused = document.activeElement, { member } = focused ? focused.dataset : {};
	const had = member !== undefined && host.contains(focused);

	host.replaceChildren(...elements);
	if (had)
		host.querySelector('[data-member="' + member + '"]')?.focus({ preventScroll: true });
}

function byId(id) {
	return document.getElementById(id);
}

function scaled(value, base, units) {
	let i = 0;

	/* as it is rounded */
	while (Math.abs(value) >= base - 0.5 && i < units.length - 1) {
		value /= base;
		i++;
	}
	return value.toFixed(i && Math.abs(value) < 99.95 ? 1 : 0) + ' ' + units[i];
}

function formatBytes(value) {
	return value === null ? '–' : scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
}

function formatRate(value) {
	return value === null ? '–' :
		scaled(value, 1000, ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s']);
}

function formatShare(part, whole) {
	if (!whole)
		return '–';
	const percent = 100 * part / whole;

	/* what is not all is never called 100 % */
	if (part < whole && percent > 99.9)
		return '> 99.9 %';
	return percent.toFixed(percent && percent < 99.95 ? 1 : 0) + ' %';
}

const DAY_MS = 86400000;
/* x of slot 0: ms since midnight UTC, or 0 where the time of day is not known */
const xBegin = meta.real_ms === null ? 0 : meta.real_ms % DAY_MS;

function pad(value, digits) {
	return String(value).padStart(digits, '0');
}

/* "03:12:04.123", of an x; as many digits as a step of @step ms needs */
function formatX(x, step) {
	const ms = Math.floor(x + 0.0005), seconds = Math.floor(ms / 1000);
	const hours = Math.floor(seconds / 3600);
	let text = pad(meta.real_ms === null ? hours : hours % 24, 2) + ':' +
		   pad(Math.floor(seconds / 60) % 60, 2);

	if (step < 60000)
		text += ':' + pad(seconds % 60, 2);
	if (step < 1000)
		text += '.' + pad(ms % 1000, 3);
	return text;
}

/* "" where the time of day is not known */
function formatDate(slot) {
	return meta.real_ms === null ? '' :
		new Date(meta.real_ms + slot + 0.0005).toISOString().slice(0, 10);
}

function hasDays() {
	return formatDate(0) !== formatDate(meta.slots);
}

/* A time that is told: with its date, where the recording has more than one */
function formatTime(slot, step) {
	return (hasDays() ? formatDate(slot) + ' ' : '') + formatX(xBegin + slot, step);
}

function formatSlot(slot) {
	return formatTime(slot, 1);
}

function formatSpan(ms) {
	if (ms > 0 && ms < 0.05)
		return '< 0.1 ms';
	/* limits are where it would be rounded to the next unit */
	if (ms < 999.5)
		return (ms < 10 ? ms.toFixed(1).replace('.0', '') : Math.round(ms)) + ' ms';
	if (ms < 59950)
		return (ms / 1000).toFixed(ms < 9995 ? 2 : 1) + ' s';
	if (ms < 3597000)
		return (ms / 60000).toFixed(1) + ' min';
	return (ms / 3600000).toFixed(2) + ' h';
}
