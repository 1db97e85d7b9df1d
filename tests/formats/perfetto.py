# SPDX-License-Identifier: GPL-2.0-or-later
# usage: perfetto.py CALLS TEXT    Compares TrackEvents with the calls of a trace. TEXT is what protoc
# decodes of the export. Unknown fields appear there as numbers, and are errors.
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
        continue
    for key, name in one(packet, "interned_data") or []:
        assert key == "event_names" and one(name, "iid") not in names
        names[one(name, "iid")] = one(name, "name")
    event = one(packet, "track_event")
    lane = one(event, "track_uuid")
    clock = int(one(packet, "timestamp"))
    assert lane in tracks
    kind = one(event, "type")
    if kind == "TYPE_SLICE_BEGIN":
        spans.begin(lane, clock, names[one(event, "name_iid")], mark(event, "begin"))
    elif kind == "TYPE_SLICE_END":
        spans.end(lane, clock, mark(event, "end"))
    else:
        assert kind == "TYPE_INSTANT" and one(event, "name")
        spans.at(lane, clock)
        instants += 1
print("tracks: %d, instants: %d" % (len(tracks), instants))
sys.exit(spans.check(sys.argv[1]) or (0 if instants and tracks else 1))
