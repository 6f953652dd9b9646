/* SPDX-License-Identifier: Apache-2.0 */
/* holodep.c - the library that libmissing_dep.so needs and nobody finds. */
int holodep_answer(void);

int
holodep_answer(void)
{
	return 42;
}
