// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables: containers, culprits, gaps, and what is not known. */
'use strict';

/* Heading, value to sort by, and text; the first one is special. */
const COLUMNS = [
	['Container', (m) => nameOf(m), null],
	['Slower', slowedOf, slowedText],
	['Cache', (m) => m.mean, (m) => memberText(m, 'mean')],
	['Bandwidth', (m) => m.rate, (m) => memberText(m, 'rate')],
	['CPU wait', (m) => m.waited, waitedText],
	/* by a button: */
	['Cache least', (m) => m.least, (m) => memberText(m, 'least')],
	['most', (m) => m.most, (m) => memberText(m, 'most')],
	['Bandwidth most', (m) => m.rate_most, (m) => memberText(m, 'rate_most')],
	['Local mean', (m) => m.local, (m) => memberText(m, 'local')],
	['Remote mean', remoteOf, (m) => formatRate(remoteOf(m))],
	['There', (m) => m.slots, (m) => formatShare(m.slots, meta.slots)],
	['Known', (m) => m.known / (m.slots || 1), (m) => formatShare(m.known, m.slots)],
	['Read', (m) => (m.known - m.held) / (m.slots || 1),
	 (m) => formatShare(Math.max(0, m.known - m.held), m.slots)],
	['Lower bound', (m) => m.partial, (m) => (m.partial ? formatSpan(m.partial) : '')],
	['Victim', (m) => m.verdicts, (m) => m.verdicts || ''],
	['Suspect', (m) => m.suspected, (m) => m.suspected || ''],
	['Not complete because', (m) => m.why || '', (m) => m.why || ''],
];

const COLUMNS_FIRST = 5;

/* The worst of its incidents; null: none is listed. */
function slowedOf(m) {
	const own = meta.incidents.filter((incident) => meta.members[incident.member] === m);

	return own.length ? Math.max(...own.map((incident) => incident.worst)) : null;
}

/* Only a container is a victim, and one that was not judged may be slower. */
function slowedText(m) {
	const worst = slowedOf(m);

	if (worst !== null)
		return wholePercent(worst);
	return m.kind === 'container' && m.judged && meta.judged && meta.counters &&
	       m.waited !== null && !meta.incidents_left_out ? '< 5 %' : '–';
}

/* Where a value of some time is a lower bound, so is that of all. */
function boundText(bound, format, value) {
	return (bound && value !== null ? '>' : '') + format(value);
}

function memberText(m, key) {
	return ['mean', 'least', 'most'].includes(key) ?
		boundText(m.bytes_bounded, formatBytes, m[key]) :
		boundText(m.rate_bounded, formatRate, m[key]);
}

/* 100 %: one of its tasks waits all the time. */
function waitedText(m) {
	return m.waited === null ? '–' :
	       (m.waited_partial ? '>' : '') + (100 * m.waited).toFixed(1) + ' %';
}

/*
 * A mean of the same time: of what is known for less of it, that would be wrong.  Two lower
 * bounds have no difference.
 */
function remoteOf(m) {
	return m.rate === null || m.localed < m.rated || m.rate_bounded ? null : m.rate - m.local;
}

const sorting = { column: 2, down: true };

/* What is not known is last. */
function compareValues(a, b, down) {
	const order = typeof a === 'string' ? a.localeCompare(b) : a - b;

	return (a === null) - (b === null) || (down ? -order : order);
}

function isMatch(member) {
	const text = byId('filter').value.toLowerCase();
	const { label, path, processes } = meta.members[member];

	return !text || (label || '').toLowerCase().includes(text) ||
	       (path || '').toLowerCase().includes(text) ||
	       (processes || []).some((p) => processName(p).toLowerCase().includes(text));
}

function sortedMembers() {
	const value = COLUMNS[sorting.column][1];
	const order = owners.filter(isMatch);

	order.sort((a, b) => compareValues(value(meta.members[a]), value(meta.members[b]),
					   sorting.down) || a - b);
	return order;
}

function heading(column, i) {
	const button = element('button', { type: 'button' }, column[0]);
	const cell = element('th', { scope: 'col' }, button);

	cell.classList.toggle('more', i >= COLUMNS_FIRST);
	if (sorting.column === i)
		cell.setAttribute('aria-sort', sorting.down ? 'descending' : 'ascending');
	button.addEventListener('click', () => {
		sorting.down = sorting.column === i ? !sorting.down : i > 0;
		sorting.column = i;
		rebuildTable();
		byId('members').tHead.rows[0].cells[i].firstChild.focus();
	});
	return cell;
}

function processName(p) {
	return (p.comm || '') + '[' + p.pid + ']';
}

function processRow(p) {
	return element('tr', {}, element('td', {}, nameElement(processName(p))),
		       element('td', { className: 'number' }, boundText(p.partial, formatBytes, p.mean)),
		       element('td', { className: 'number' }, boundText(p.partial, formatBytes, p.most)),
		       element('td', { className: 'number' }, boundText(p.partial, formatRate, p.rate)),
		       element('td', { className: 'number' }, boundText(p.partial, formatRate, p.local)),
		       element('td', {}, formatSlot(p.first) + ' to ' +
					 formatSlot(Math.min(p.last, meta.slots))));
}

function processTable(m) {
	const heads = ['Process', 'L3 mean', 'most', 'Bandwidth mean', 'Local mean', 'There'];
	const table = element('table', {}, element('thead', {}, element('tr', {},
		...heads.map((head) => element('th', { scope: 'col' }, head)))),
		element('tbody', {}, ...m.processes.map(processRow)));

	return m.processes_left_out ? [table, element('div', { className: 'hint' },
		m.processes_left_out + ' more held less')] : [table];
}

/* The rows are made when the table is opened. */
function processList(m) {
	const nr = m.processes.length + m.processes_left_out, most = m.processes[0];
	const details = element('details', { className: 'processes' }, element('summary', {},
		nr + (nr === 1 ? ' process: ' : ' processes, most of all: '),
		nameElement(processName(most)), ' ' + boundText(most.partial, formatBytes, most.mean)));

	details.addEventListener('toggle', () => details.append(...processTable(m)),
				 { once: true });
	return details;
}

function memberBox(member) {
	const box = element('input', { type: 'checkbox', checked: selected.includes(member),
				       'data-member': member });

	box.setAttribute('aria-label', 'show ' + nameOf(meta.members[member]) + ' in the charts');
	box.addEventListener('change', () => toggleMember(member));
	return box;
}

function memberCell(member) {
	const m = meta.members[member];
	const cell = element('th', { className: 'name', scope: 'row' }, memberBox(member), ' ',
			     nameElement(nameOf(m)));

	if (m.user)
		cell.append(' ', element('span', { className: 'hint' }, '(named by a user)'));
	if (m.label !== null && m.path && m.path !== m.label)
		cell.append(element('div', { className: 'hint' }, nameElement(m.path)));
	if (m.image)
		cell.append(element('div', { className: 'hint' }, nameElement(m.image)));
	if (m.processes)
		cell.append(processList(m));
	return cell;
}

function memberRow(member) {
	const m = meta.members[member], place = selected.indexOf(member);
	const row = element('tr', {}, memberCell(member), ...COLUMNS.slice(1).map((column, i) =>
		element('td', { className: i + 1 < COLUMNS_FIRST ? 'number' : 'number more' },
			String(column[2](m)))));

	if (place >= 0)
		row.firstChild.style.borderLeft = '4px solid ' + colourOf(place);
	return row;
}

/* The rows come after the first picture. */
function rebuildRows() {
	replaceMembers(byId('members').tBodies[0], laneOrder.map(memberRow));
}

function rebuildTable() {
	byId('members').tHead.replaceChildren(element('tr', {}, ...COLUMNS.map(heading)));
	laneOrder = sortedMembers();
	if (painted)
		rebuildRows();
	rebuildLanes();
	redraw();
}

/* "90 %, took about 1.1 MiB; held ...", and of who had the CPU "26 % of the wait" */
function suspectText(s) {
	const share = (100 * s.share).toFixed(0) + ' %';

	if (s.occupancy === null)
		return share + ' of the wait';
	return share + (s.taken === null ? '' : ', took about ' + formatBytes(s.taken)) +
		'; held ' + formatBytes(s.occupancy_before) +
		', now ' + formatBytes(s.occupancy) + '; moved ' +
		formatRate(s.traffic_before) + ', now ' + formatRate(s.traffic);
}

function suspectsCell(verdict) {
	const cell = element('td', {});

	for (const s of verdict.suspects)
		cell.append(element('div', {}, toldName(s), ' ' + suspectText(s)));
	if (verdict.clipped)
		cell.append(element('div', {}, 'there may be more suspects'));
	return cell;
}

function evidence(verdict) {
	const words = [];

	if (verdict.lost)
		words.push('L3 ' + formatBytes(verdict.occupancy_before) + ' → ' +
			   formatBytes(verdict.occupancy) + ' (lost ' +
			   formatBytes(verdict.lost) + ')');
	if (verdict.refetched)
		words.push('fetched again ' + formatBytes(verdict.refetched));
	if (verdict.cpi !== null && verdict.cpi_before !== null)
		words.push('cycles per instruction ' + verdict.cpi_before.toFixed(2) + ' → ' +
			   verdict.cpi.toFixed(2));
	if (verdict.mpki !== null && verdict.mpki_before !== null)
		words.push('misses per 1,000 instructions ' + verdict.mpki_before.toFixed(1) +
			   ' → ' + verdict.mpki.toFixed(1));
	if (verdict.cpu_share !== null)
		words.push(formatShare(verdict.cpu_share, 1) + ' of the CPU time it wanted');
	return words.join('; ');
}

/* The moment of a verdict, with some time around it, for its containers. */
function showVerdict(n) {
	const verdict = meta.verdicts[n];
	const length = Math.max(20, verdict.slot - verdict.since);
	const members = [verdict.member, ...verdict.suspects.map((s) => s.member)]
		.filter((member) => member !== undefined);

	if (members.length)
		selectMembers([...new Set(members)]);
	setView(verdict.since - 2 * length, verdict.slot + 3 * length);
	shownVerdict = n;
	[...byId('verdicts').tBodies[0].rows].forEach((row, i) =>
		row.classList.toggle('current', i === n));
}

function verdictRow(verdict, n) {
	const button = element('button', { type: 'button' }, formatSlot(verdict.slot));

	button.addEventListener('click', () => {
		showVerdict(n);
		byId('charts-part').scrollIntoView({ block: 'nearest' });
	});
	return element('tr', {}, element('td', {}, button),
		       element('td', { className: 'name' }, toldName(verdict)),
		       element('td', {}, verdict.what || verdict.kind), suspectsCell(verdict),
		       element('td', {}, verdict.sure || 'not known'),
		       element('td', {}, evidence(verdict)));
}

function fillVerdicts() {
	byId('verdicts').tBodies[0].append(...meta.verdicts.map(verdictRow));
	byId('verdicts').hidden = !meta.verdicts.length;
	byId('no-verdicts').hidden = !!meta.verdicts.length;
}

/* "docker:batch 2.1 s, cache of L3 domain 0", and more of them */
function costsCell(incident) {
	const cell = element('td', {});

	for (const c of incident.costs) {
		const lost = incident.lost === undefined ? '' : ' ' + formatSpan(c.lost / 1e6);

		cell.append(element('div', {}, toldName(c), lost + ', ' + c.resource +
			(c.resource === 'CPU' ? '' : ' of L3 domain ' + c.domain)));
	}
	if (incident.clipped)
		cell.append(element('div', {}, 'and others'));
	return cell;
}

function showIncident(n) {
	const incident = meta.incidents[n];
	const length = Math.max(20, incident.end - incident.begin);
	const members = [incident.member, ...incident.costs.map((c) => c.member)]
		.filter((member) => member !== undefined);

	if (members.length)
		selectMembers([...new Set(members)]);
	setView(incident.begin - length / 4, incident.end + length / 4);
}

function incidentRow(incident, n) {
	const button = element('button', { type: 'button' }, incident.before ?
			       'before the begin' : formatSlot(incident.begin));

	button.addEventListener('click', () => {
		showStory(storyOrder.indexOf(n));
		byId('charts-part').scrollIntoView({ block: 'nearest' });
	});
	return element('tr', {}, element('td', {}, button),
		       element('td', { className: 'name' }, toldName(incident)),
		       element('td', { className: 'number' },
			       (incident.before ? '>' : '') + formatSpan(incident.end - incident.begin) +
			       endText(incident)),
		       element('td', { className: 'number' }, formatShare(incident.worst, 1)),
		       element('td', { className: 'number' }, incident.lost === undefined ? 'unknown' :
			       (incident.before ? '>' : '') + formatSpan(incident.lost / 1e6)),
		       costsCell(incident));
}

function fillIncidents() {
	byId('incidents').tBodies[0].append(...meta.incidents.map(incidentRow));
	byId('incidents-part').hidden = !meta.incidents.length;
	byId('incidents-left-out').textContent = meta.incidents_left_out ?
		'Others, which cost less: ' + meta.incidents_left_out + '.' : '';
}

function runnerCell(wait) {
	if (wait.runner === undefined)
		return element('td', {}, 'unknown');
	if (wait.runner === wait.member)
		return element('td', {}, 'its own tasks');
	return element('td', { className: 'name' }, nameElement(nameOf(meta.members[wait.runner])));
}

function waitRow(wait) {
	return element('tr', {},
		       element('td', { className: 'name' },
			       nameElement(nameOf(meta.members[wait.member]))),
		       runnerCell(wait),
		       element('td', { className: 'number' }, formatSpan(wait.ns / 1e6)),
		       element('td', { className: 'number' }, formatShare(wait.share, 1)));
}

function fillWaits() {
	byId('waits').tBodies[0].append(...meta.waits.map(waitRow));
	byId('waits-part').hidden = !meta.waits.length;
	byId('waits-left-out').textContent = meta.waits_left_out_ns ?
		'Other pairs: ' + formatSpan(meta.waits_left_out_ns / 1e6) + '.' : '';
}

const GAP_WHY = ['no CPU was sampled', 'records were lost'];

function gapRow([slot, nr, why]) {
	const button = element('button', { type: 'button' }, formatSlot(slot));

	button.addEventListener('click', () => setView(slot - nr, slot + 2 * nr));
	return element('tr', {}, element('td', {}, button),
		       element('td', { className: 'number' }, formatSpan(nr)),
		       element('td', {}, GAP_WHY[why] || ''));
}

function fillGaps() {
	byId('gaps').tBodies[0].append(...meta.gaps.map(gapRow));
	byId('gap-part').hidden = !meta.gaps.length;
}

function fillHead() {
	const date = meta.real_ms === null || hasDays() ? '' : formatDate(0) + ', ';
	const zone = meta.real_ms === null ? ' since the begin' : ' UTC';

	byId('host').replaceChildren(...(meta.host ? [nameElement(meta.host), '. '] : []));
	byId('when').textContent = date + formatSlot(0) + ' to ' + formatSlot(meta.slots) +
		zone + ' (' + formatSpan(meta.slots) + '), ' + owners.length +
		' rows, ' + meta.cpus + (meta.cpus === 1 ? ' CPU, ' : ' CPUs, ') +
		meta.domains + (meta.domains === 1 ? ' L3 domain of ' : ' L3 domains of ') +
		(meta.l3_bytes ? formatBytes(meta.l3_bytes) :
				     'a size that is not known');
	byId('what').replaceChildren('Recording ', nameElement(meta.file), meta.recorder ?
		' by ' : '', ...(meta.recorder ? [nameElement(meta.recorder)] : []));
	byId('coverage').textContent = 'Sampled in ' +
		formatShare(meta.slots - meta.gap_slots, meta.slots) + ' of the time.';
	byId('emulated').hidden = !meta.emulated;
	byId('notes').append(...meta.notes.map((note) => element('li', {}, note)));
}
