# SPDX-License-Identifier: GPL-2.0-or-later
# usage: perfetto.py CALLS TEXT [EXITS]    Compares TrackEvents with the calls of a trace. TEXT is what protoc
# decodes of the export. Unknown fields appear there as numbers, and are errors. There are as many
# flows as the trace has VM exits.
import re
import sys

sys.path.insert(0, "tests/cli/formats")
from timeline import Spans


def read(lines):
    """Read the text format into lists of (name, value)."""
    message = []
    for line in lines:
        line = line.strip()
        if line == "}":
            return message
        match = re.fullmatch(r"(\w+) \{", line)
        if match:
            message.append((match.group(1), read(lines)))
            continue
        name, value = line.split(": ", 1)
        message.append((name, value.strip('"')))
    return message


def one(message, name):
    found = [value for key, value in message if key == name]
    assert len(found) < 2, name
    return found[0] if found else None


def mark(event, name):
    for key, value in event:
        if key == "debug_annotations" and one(value, "name") == name:
            return one(value, "string_value")
    return None


with open(sys.argv[2], encoding="ascii") as f:
    packets = read(iter(f))
spans = Spans()
names = {}
tracks = {}
machines = {}
flows = {}
ended = set()
instants = 0
for i, (key, packet) in enumerate(packets):
    assert key == "packet" and not [k for k, _ in packet if k.isdigit()]
    assert one(packet, "trusted_packet_sequence_id") == "1"
    # The first packet clears the state, and each needs the names before it.
    assert int(one(packet, "sequence_flags")) == (2 if i else 3)
    track = one(packet, "track_descriptor")
    if track:
        uuid, parent = one(track, "uuid"), one(track, "parent_uuid")
        assert uuid not in tracks and (parent is None or parent in tracks)
        tracks[uuid] = one(track, "name")
        machines[uuid] = machines.get(parent)
        process = one(track, "process")
        if process:
            # A machine is a process of its own, and the tracks of its vCPUs are below it.
            assert parent is None and tracks[uuid] is None
            machines[uuid] = one(process, "process_name")
            assert int(one(process, "pid")) == len(set(machines.values()) - {None})
        elif machines[uuid] and " vCPU " in tracks[uuid] or ": host" in tracks[uuid]:
            assert ": " + machines[uuid] in tracks[uuid], (machines[uuid], tracks[uuid])
        continue
    for key, name in one(packet, "interned_data") or []:
        assert key == "event_names" and one(name, "iid") not in names
        names[one(name, "iid")] = one(name, "name")
    event = one(packet, "track_event")
    lane = one(event, "track_uuid")
    clock = int(one(packet, "timestamp"))
    assert lane in tracks
    kind = one(event, "type")
    begins, ends = one(event, "flow_ids"), one(event, "terminating_flow_ids")
    assert begins == one(event, "flow_ids_old") and ends == one(event, "terminating_flow_ids_old")
    if begins:
        assert begins not in flows and one(event, "name") == "VM exit"
        assert machines[lane].startswith("VM ")
        flows[begins] = clock
    if ends:
        assert flows[ends] == clock and ends not in ended and machines[lane] == "host"
        assert kind == "TYPE_SLICE_BEGIN" or one(event, "name") == "VM exit handler"
        if kind == "TYPE_INSTANT":
            assert spans.stacks[lane], "a handler outside of all functions"
        ended.add(ends)
    if kind == "TYPE_SLICE_BEGIN":
        spans.begin(lane, clock, names[one(event, "name_iid")], mark(event, "begin"))
    elif kind == "TYPE_SLICE_END":
        spans.end(lane, clock, mark(event, "end"))
    else:
        assert kind == "TYPE_INSTANT" and one(event, "name")
        spans.at(lane, clock)
        instants += 1
print("tracks: %d, machines: %d, instants: %d, flows: %d" %
      (len(tracks), len(set(machines.values()) - {None}), instants, len(flows)))
exits = int(sys.argv[3]) if len(sys.argv) > 3 else 0
assert len(flows) == len(ended) == exits, (len(flows), len(ended), exits)
assert not exits or set(machines.values()) == {"host", "VM 0"}, machines
sys.exit(spans.check(sys.argv[1]) or (0 if instants and tracks else 1))
