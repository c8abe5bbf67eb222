// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A function that calls another one.  Compiled several times, with other names and into
 * the folders of two rooms, this is a call from the lower room to the upper one, or a
 * circle of calls, which tests/static/rooms must report.
 */
int CALLEE(void);

int NAME(void)
{
	return CALLEE();
}
