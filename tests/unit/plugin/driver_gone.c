/* SPDX-License-Identifier: Apache-2.0 */
/* driver_gone.c - stands for the library of a driver that is not installed. */
int holo_driver(void);

int
holo_driver(void)
{
	return 1;
}
