/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel of a virtual machine (multiboot 1): its first processor reads one
 * megabyte, a line after the other, for ever.
 */
	.set	MAGIC, 0x1badb002
	.long	MAGIC, 0, -MAGIC

	.globl	_start
_start:
	movl	$0x200000, %esi
	movl	$(1 << 20) / 64, %ecx
1:	movl	(%esi), %eax
	addl	$64, %esi
	decl	%ecx
	jnz	1b
	jmp	_start
