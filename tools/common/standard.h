/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Standard input, output and error, which a caller may have closed */
#ifndef TOOLS_STANDARD_H
#define TOOLS_STANDARD_H

/*
 * Occupy the numbers of those that are closed, so that no file that the program opens has
 * one of them: messages would be written into that file.  To read or write one fails with
 * EBADF, as before, and a program that is executed has it closed.  The first call of main().
 * Returns 0, or -errno after a message.
 */
int standard_occupy(const char *program);

#endif
