"""Decodes a trace with the messages that Perfetto publishes, and checks the rules of track events.

Argument: the trace. Prints the numbers of tracks, slices and arrows. With the environment variable TRACE_PROCESSOR, the path
of Perfetto's trace_processor_shell, it loads the trace there, too, and compares the numbers.
"""

import collections
import os
import sys

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


def unknown(message):
    """Returns whether a message or one inside it has fields that its description lacks."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    if len(UnknownFieldSet(message)):
        return True
    inner = (value for field, value in message.ListFields() if field.message_type)
    return any(unknown(one) for value in inner for one in (value if hasattr(value, "add") else [value]))


def check(path):
    trace = Trace.FromString(open(path, "rb").read())
    tracks, busy, last, sequence = {}, {}, 0, False
    interned = {name: {} for name in ("event_categories", "event_names", "debug_annotation_names", "debug_annotation_string_values")}
    flows, slices = collections.defaultdict(list), 0
    for packet in trace.packet:
        assert not unknown(packet), packet
        # The first packet of a sequence says that no name is known yet; the others rely on names.
        assert packet.trusted_packet_sequence_id == 1 and bool(packet.sequence_flags & 1) != sequence, packet
        sequence = True
        for name, known in interned.items():
            for entry in getattr(packet.interned_data, name):
                assert entry.iid not in known, f"{name} {entry.iid} has two texts"
                known[entry.iid] = entry.name if hasattr(entry, "name") else entry.str
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in tracks and (not track.parent_uuid or track.parent_uuid in tracks), track
            tracks[track.uuid] = track
            continue
        event = packet.track_event
        assert packet.timestamp >= last, f"{packet.timestamp} follows {last}"
        last = packet.timestamp
        assert event.track_uuid in tracks, event
        if event.type == TrackEvent.TYPE_SLICE_END:
            assert last > busy.pop(event.track_uuid), event
            continue
        assert event.type == TrackEvent.TYPE_SLICE_BEGIN and event.track_uuid not in busy, event
        busy[event.track_uuid] = last
        slices += 1
        assert event.name_iid in interned["event_names"] and event.category_iids[0] in interned["event_categories"], event
        for argument in event.debug_annotations:
            assert argument.name_iid in interned["debug_annotation_names"], argument
            for text in [argument, *argument.array_values]:
                assert not text.string_value_iid or text.string_value_iid in interned["debug_annotation_string_values"], text
        for flow in event.flow_ids:
            flows[flow].append("out")
        for flow in event.terminating_flow_ids:
            flows[flow].append("in")
    assert not busy, f"slices without an end: {busy}"
    assert all(ends == ["out", "in"] for ends in flows.values()), flows
    return len(tracks), slices, len(flows)


def processed(path, shell):
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

    with TraceProcessor(trace=path, config=TraceProcessorConfig(bin_path=shell)) as processor:
        number = lambda query: next(iter(processor.query(query))).number
        errors = number("select count(*) as number from stats where severity = 'error' and value > 0")
        assert errors == 0, f"{errors} kinds of errors"
        return number("select count(*) as number from slice"), number("select count(*) as number from flow")


tracks, slices, arrows = check(sys.argv[1])
shell = os.environ.get("TRACE_PROCESSOR")
if shell:
    assert processed(sys.argv[1], shell) == (slices, arrows)
print(f"{tracks}\t{slices}\t{arrows}{'' if shell else '	(trace_processor_shell was not asked)'}")
