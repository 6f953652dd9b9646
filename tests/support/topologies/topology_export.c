// SPDX-License-Identifier: Apache-2.0
/*
 * topology_export.c - write a described machine as hwloc XML.
 *
 * usage: topology_export DESCRIPTION [ALLOWED_CPUS] > FILE
 * The recorded topologies beside this file were made with the commands in README.md;
 * a real machine is recorded with `lstopo --of xml`.
 */
#include <hwloc.h>
#include <stdio.h>

static int
restrict_to(hwloc_topology_t t, const char *list)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	int rc = hwloc_bitmap_list_sscanf(set, list);

	if (rc == 0)
		rc = hwloc_topology_allow(t, set, NULL, HWLOC_ALLOW_FLAG_CUSTOM);
	hwloc_bitmap_free(set);
	return rc;
}

int
main(int argc, char **argv)
{
	hwloc_topology_t t;
	int rc = 1;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: topology_export DESCRIPTION [ALLOWED_CPUS]\n");
		return 2;
	}
	if (hwloc_topology_init(&t) < 0)
		return 1;
	hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	if (hwloc_topology_set_synthetic(t, argv[1]) == 0 && hwloc_topology_load(t) == 0 &&
	    (argc == 2 || restrict_to(t, argv[2]) == 0))
		rc = hwloc_topology_export_xml(t, "-", 0) < 0;
	if (rc)
		fprintf(stderr, "topology_export: cannot make '%s'\n", argv[1]);
	hwloc_topology_destroy(t);
	return rc;
}
