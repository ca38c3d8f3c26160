/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Probes for tracers: a no-operation in the code, and a note that says where it
 * is (the form of systemtap's sys/sdt.h, version 3, which perf, bpftrace and
 * `ibctl trace latency --user` know).  Unused, it costs that no-operation.
 *
 * The arguments are in the registers of a function call, so that a tracer
 * needs no interpreter for the note's third string.
 */
#ifndef SHCA_PROBE_H
#define SHCA_PROBE_H

#include <stdint.h>

#ifdef __x86_64__
#define SHCA_PROBE(name, a, b, c, d)					\
	__asm__ volatile(						\
		"990:	nop\n"						\
		"	.pushsection .note.stapsdt, \"\", \"note\"\n" \
		"	.balign 4\n"					\
		"	.4byte 992f - 991f, 994f - 993f, 3\n"		\
		"991:	.asciz \"stapsdt\"\n"				\
		"992:	.balign 4\n"					\
		"993:	.8byte 990b, _.stapsdt.base, 0\n"		\
		"	.asciz \"softhca\"\n"				\
		"	.asciz \"" #name "\"\n"				\
		"	.asciz \"8@%%rdi 8@%%rsi 8@%%rdx 8@%%rcx\"\n"	\
		"994:	.balign 4\n"					\
		"	.popsection\n"					\
		"	.ifndef _.stapsdt.base\n"			\
		"	.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
		"	.weak _.stapsdt.base\n"				\
		"	.hidden _.stapsdt.base\n"			\
		"_.stapsdt.base: .space 1\n"				\
		"	.size _.stapsdt.base, 1\n"			\
		"	.popsection\n"					\
		"	.endif\n"					\
		: : "D"((uint64_t)(a)), "S"((uint64_t)(b)),		\
		    "d"((uint64_t)(c)), "c"((uint64_t)(d)))
#else
#define SHCA_PROBE(name, a, b, c, d) \
	do { (void)(a); (void)(b); (void)(c); (void)(d); } while (0)
#endif

#endif /* SHCA_PROBE_H */
