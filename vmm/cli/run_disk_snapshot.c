// SPDX-License-Identifier: GPL-2.0-or-later
/* Disks in snapshots: the snapshot has the names of the images and the guest's writes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/run.h"
#include "disk/disk.h"

bool cli_run_disks_written(const struct cli_run_options *o)
{
	unsigned int i;

	for (i = 0; i < o->disks.count; i++)
		if (o->disks.at[i].options.access == DISK_WRITE_THROUGH)
			return true;
	return false;
}

unsigned int cli_run_disks_describe(const struct cli_run_machine *m, struct core_snap_disk *to)
{
	unsigned int i;

	for (i = 0; i < m->o.disks.count; i++) {
		const struct cli_run_disk *disk = &m->o.disks.at[i];

		to[i] = (struct core_snap_disk){
			.access = disk->options.access,
			.format = disk->options.format,
			.overlay_max = disk->options.overlay_max,
		};
		memcpy(to[i].name, disk->name, sizeof(disk->name));
	}
	return i;
}

int cli_run_disk_save(void *machine, unsigned int i, core_snap_put *put, void *to)
{
	const struct cli_run_machine *m = machine;

	return disk_save(m->disk[i], put, to);
}

int cli_run_disks_take(struct cli_run_options *o, const struct core_snapshot *s, const char *path)
{
	struct core_snap_disk disk;

	for (o->disks.count = 0; core_snapshot_disk(s, o->disks.count, &disk); o->disks.count++) {
		struct cli_run_disk *to;

		if (o->disks.count == VIRTIO_DISKS ||
		    (disk.access != DISK_OVERLAY && disk.access != DISK_READ_ONLY) ||
		    disk.format > DISK_QCOW2)
			return cli_fail(CLI_EXIT_INPUT, "%s: %s: no such disk", o->verb, path);
		to = &o->disks.at[o->disks.count];
		*to = (struct cli_run_disk){.options = {
						    .access = (enum disk_access)disk.access,
						    .format = (enum disk_format)disk.format,
						    .overlay_max = disk.overlay_max,
					    }};
		memcpy(to->name, disk.name, sizeof(to->name));
	}
	if (o->disks.count == core_snapshot_count(s, CORE_SNAP_DISK, NULL))
		return CLI_EXIT_OK;
	return cli_fail(CLI_EXIT_INPUT, "%s: %s: a name has no end", o->verb, path);
}

static int load(struct cli_run_machine *m, unsigned int i, const struct core_snapshot *s,
		const char *path)
{
	const char *name = m->o.disks.at[i].name, *why = NULL;
	struct core_snapshot_cursor cursor;
	int error;

	core_snapshot_disk_begin(s, i, &cursor);
	error = disk_load(m->disk[i], core_snapshot_get, &cursor, &why);
	if (!core_snapshot_disk_end(&cursor) && !error) {
		error = -EINVAL;
		why = "the snapshot's part for the disk is too long";
	}
	if (!error)
		return CLI_EXIT_OK;
	return cli_fail(error == -ENOMEM ? CLI_EXIT_HOST : CLI_EXIT_INPUT, "%s: %s: %s: %s",
			m->o.verb, path, name, why);
}

int cli_run_disks_load(struct cli_run_machine *m, const struct core_snapshot *s, const char *path)
{
	int status = CLI_EXIT_OK;
	unsigned int i;

	for (i = 0; !status && i < m->o.disks.count; i++)
		status = load(m, i, s, path);
	return status;
}
