/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - finds out what is missing for CUDA ops.  See device.h.
 */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include <holorun/op.h>

#include "plugin/device.h"

static const char *const libraries[] = { "libcuda.so", "libcudart.so", "libcufft.so",
					 "libcublas.so", "libnvrtc.so" };

bool
hr_device_library(const char *soname)
{
	for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
		if (strncmp(soname, libraries[i], strlen(libraries[i])) == 0)
			return true;
	return false;
}

const char *
hr_device_missing(struct hr_arena *a, uint32_t device)
{
	void *driver;

	(void)a;
	if (device == HOP_ON_CPU)
		return NULL;
	driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!driver)
		return "the CUDA driver library libcuda.so.1 is not installed here";
	(void)dlclose(driver);
	if (access("/dev/nvidiactl", F_OK) && access("/dev/dxg", F_OK))
		return "libcuda.so.1 is installed, but there is no NVIDIA device "
		       "(/dev/nvidiactl is missing)";
	return "this version of holorun runs no CUDA ops yet";
}
