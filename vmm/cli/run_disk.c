// SPDX-License-Identifier: GPL-2.0-or-later
/* The option --disk: images of the host that are disks of the guest. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/run.h"
#include "disk/disk.h"
#include "trace/writer.h"

#define FORMAT	"format="
#define OVERLAY "overlay="

static int take_overlay(const struct cli_given *g, struct cli_run_disk *disk, const char *text)
{
	char copy[32];
	struct cli_given size = *g;
	int status;

	snprintf(copy, sizeof(copy), "%.*s", (int)strcspn(text, ","), text);
	size.value = copy;
	size.field = &disk->options.overlay_max;
	status = cli_take_size(&size);
	if (!status && !disk->options.overlay_max)
		return cli_option_wrong(g, "an overlay has at least one byte");
	return status;
}

/* Take one word behind the name of the image. Returns an exit status. */
static int take_word(const struct cli_given *g, struct cli_run_disk *disk, const char *word,
		     size_t len)
{
	static const struct {
		const char *text;
		enum disk_access access;
		enum disk_format format;
	} words[] = {
		{"ro", DISK_READ_ONLY, DISK_DETECT},
		{"rw", DISK_WRITE_THROUGH, DISK_DETECT},
		{FORMAT "raw", DISK_OVERLAY, DISK_RAW},
		{FORMAT "qcow2", DISK_OVERLAY, DISK_QCOW2},
	};
	char text[32] = "";
	size_t i;

	memcpy(text, word, len < sizeof(text) ? len : 0);
	if (!strncmp(text, OVERLAY, strlen(OVERLAY)))
		return take_overlay(g, disk, text + strlen(OVERLAY));
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(text, words[i].text))
			continue;
		if (words[i].access != DISK_OVERLAY)
			disk->options.access = words[i].access;
		if (words[i].format != DISK_DETECT)
			disk->options.format = words[i].format;
		return CLI_EXIT_OK;
	}
	return cli_option_wrong(g, "not FILE[,ro|,rw][,format=raw|qcow2][,overlay=SIZE]");
}

int cli_run_take_disk(const struct cli_given *g)
{
	struct cli_run_disks *disks = g->field;
	struct cli_run_disk *disk = &disks->at[disks->count];
	const char *word = strchrnul(g->value, ',');
	const size_t len = (size_t)(word - g->value);
	int status = CLI_EXIT_OK;

	if (disks->count == VIRTIO_DISKS)
		return cli_option_wrong(g, "more than %u disks", VIRTIO_DISKS);
	*disk = (struct cli_run_disk){.name = {0}};
	if (!len || len >= sizeof(disk->name))
		return cli_option_wrong(g, "not the name of a file");
	memcpy(disk->name, g->value, len);
	while (*word && !status) {
		const size_t n = strcspn(++word, ",");

		status = take_word(g, disk, word, n);
		word += n;
	}
	disks->count++;
	return status;
}

/* A trace file decides what a replay opens, so a replay never writes to an image. */
static int check_access(const struct cli_run_options *o, const struct cli_run_disk *disk)
{
	if (o->replay && disk->options.access == DISK_WRITE_THROUGH)
		return cli_fail(CLI_EXIT_INPUT,
				"%s: --disk=%s,rw: the run has changed its image, so it cannot be "
				"repeated",
				o->verb, disk->name);
	return CLI_EXIT_OK;
}

/* Take the identity of an image, and compare it with that of a recording. */
static int identify(struct cli_run_machine *m, unsigned int i, int fd)
{
	struct trace_file_ref *is = &m->disk_ref[i];
	const struct cli_run_replay *replay = m->o.replay;
	const struct trace_file_ref *was = NULL;
	struct stat st;

	if (fstat(fd, &st))
		return cli_fail(CLI_EXIT_HOST, "%s: --disk: %s: %s", m->o.verb,
				m->o.disks.at[i].name, cli_reason(errno));
	*is = (struct trace_file_ref){
		.kind = TRACE_REF_DISK,
		.bytes = (uint64_t)st.st_size,
		.mtime = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec,
	};
	if (!replay)
		return CLI_EXIT_OK;
	if (i < replay->disks)
		was = replay->disk[i];
	if (was && was->bytes == is->bytes && was->mtime == is->mtime)
		return CLI_EXIT_OK;
	return cli_fail(CLI_EXIT_INPUT,
			"%s: %s: not the disk of the recording: its size or its time of "
			"modification differs",
			m->o.verb, m->o.disks.at[i].name);
}

int cli_run_disks_record(const struct cli_run_machine *m, struct trace_writer *writer)
{
	unsigned int i;
	int error = 0;

	for (i = 0; !error && i < m->o.disks.count; i++) {
		struct trace_file_ref ref = m->disk_ref[i];

		error = trace_writer_ref(writer, 0, &ref, m->o.disks.at[i].name);
	}
	return error;
}

static int open_disk(struct cli_run_machine *m, unsigned int i)
{
	const struct cli_run_disk *disk = &m->o.disks.at[i];
	const bool writes = disk->options.access == DISK_WRITE_THROUGH;
	int status = check_access(&m->o, disk), fd, error;
	const char *why = NULL;

	if (status)
		return status;
	/* Without O_NONBLOCK the open of a pipe could wait forever. */
	fd = open(disk->name, (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return cli_fail(CLI_EXIT_INPUT, "%s: --disk: %s: %s", m->o.verb, disk->name,
				cli_reason(errno));
	status = identify(m, i, fd);
	if (status) {
		close(fd);
		return status;
	}
	error = disk_open(&m->disk[i], fd, &disk->options, &why);
	if (!error)
		return CLI_EXIT_OK;
	close(fd);
	return cli_fail(CLI_EXIT_INPUT, "%s: --disk: %s: %s", m->o.verb, disk->name, why);
}

int cli_run_disks_open(struct cli_run_machine *m)
{
	int status = CLI_EXIT_OK;
	unsigned int i;

	for (i = 0; !status && i < m->o.disks.count; i++)
		status = open_disk(m, i);
	return status;
}

void cli_run_disks_close(struct cli_run_machine *m)
{
	unsigned int i;

	for (i = 0; i < VIRTIO_DISKS; i++) {
		disk_close(m->disk[i]);
		m->disk[i] = NULL;
	}
}

/* The guest sees only that its request failed, so the first failure is printed. */
static void report(struct cli_run_machine *m, unsigned int number, int error)
{
	const struct cli_run_disk *disk = &m->o.disks.at[number];

	if (m->disk_failed || error == -EROFS || error == -EINVAL)
		return;
	m->disk_failed = true;
	if (error == -ENOSPC)
		fprintf(stderr,
			"vpt %s: %s: the guest's writes fill the overlay of %" PRIu64
			"M: use --disk=FILE,overlay=SIZE\n",
			m->o.verb, disk->name, disk_overlay_bytes(m->disk[number]) >> 20);
	else
		fprintf(stderr, "vpt %s: %s: %s: the guest gets an error\n", m->o.verb, disk->name,
			cli_reason(-error));
}

int cli_run_disk_access(struct cli_run_machine *m, unsigned int number,
			enum virtio_disk_access access, uint64_t offset, void *data, size_t bytes)
{
	struct disk *disk = m->disk[number];
	int error;

	if (access == VIRTIO_DISK_READ)
		error = disk_read(disk, offset, data, bytes);
	else if (access == VIRTIO_DISK_WRITE)
		error = disk_write(disk, offset, data, bytes);
	else
		error = disk_flush(disk);
	if (error)
		report(m, number, error);
	return error;
}

int cli_run_add_devices(struct cli_run_machine *m)
{
	struct virtio_bus *bus = &m->vm.virtio.bus;
	int status = cli_run_disks_open(m), error = 0;
	unsigned int i;

	if (status)
		return status;
	core_virtio_create(&m->vm);
	if (m->o.pci)
		dev_pci_add_bridge(&m->vm.virtio.pci);
	for (i = 0; !error && i < m->o.disks.count; i++)
		error = virtio_add_disk(bus, disk_size(m->disk[i]),
					m->o.disks.at[i].options.access == DISK_READ_ONLY);
	if (!error && m->o.virtio_console)
		error = virtio_add_console(bus);
	if (!error && m->o.share.given)
		error = virtio_add_share(bus, m->o.share.tag);
	if (!error && m->o.net.given)
		error = virtio_add_net(bus);
	if (!error && m->o.virtio_rng)
		error = virtio_add_random(bus, m->o.seed);
	if (!error)
		error = core_virtio_plug(&m->vm);
	return error ? cli_fail(CLI_EXIT_HOST, "%s: %s", m->o.verb, cli_reason(-error))
		     : CLI_EXIT_OK;
}
