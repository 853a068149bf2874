//! The packets of two operations, decoded by a reader of its own.

use sim_core::{OpTimeline, Operation, Span, Stage};
use sim_machine::observe::Need;

use super::super::{InOrder, PipeView, TracedOp};
use crate::Symbols;

/// A field: its number and its value as text.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = match key & 7 {
            0 => Value::Uint(varint(&mut bytes)),
            1 => Value::Uint(u64::from_le_bytes(take(&mut bytes, 8).try_into().expect("eight"))),
            2 => {
                let length = varint(&mut bytes) as usize;
                Value::Bytes(take(&mut bytes, length))
            }
            other => panic!("wire type {other}"),
        };
        fields.push((key >> 3, value));
    }
    fields
}

enum Value<'a> {
    Uint(u64),
    Bytes(&'a [u8]),
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (head, rest) = bytes.split_at(length);
    *bytes = rest;
    head
}

fn varint(bytes: &mut &[u8]) -> u64 {
    (0..10)
        .fold((0, true), |(value, goes_on), at| {
            if !goes_on {
                return (value, false);
            }
            let byte = take(bytes, 1)[0];
            (value | u64::from(byte & 0x7f) << (7 * at), byte & 0x80 != 0)
        })
        .0
}

/// Names of the fields, by the place of their message; a name in capitals is a message.
const FIELDS: [(&str, u64, &str); 31] = [
    ("", 1, "PACKET"),
    ("PACKET", 8, "timestamp"),
    ("PACKET", 10, "sequence"),
    ("PACKET", 11, "EVENT"),
    ("PACKET", 12, "INTERNED"),
    ("PACKET", 13, "flags"),
    ("PACKET", 60, "TRACK"),
    ("TRACK", 1, "uuid"),
    ("TRACK", 2, "name"),
    ("TRACK", 5, "parent"),
    ("TRACK", 11, "ordering"),
    ("TRACK", 12, "rank"),
    ("TRACK", 14, "description"),
    ("EVENT", 3, "category"),
    ("EVENT", 4, "ARG"),
    ("EVENT", 9, "type"),
    ("EVENT", 10, "name"),
    ("EVENT", 11, "track"),
    ("EVENT", 47, "flow"),
    ("EVENT", 48, "flow_end"),
    ("ARG", 1, "name"),
    ("ARG", 3, "uint"),
    ("ARG", 7, "address"),
    ("ARG", 12, "ARG"),
    ("ARG", 17, "text"),
    ("INTERNED", 1, "CATEGORY"),
    ("INTERNED", 2, "NAME"),
    ("INTERNED", 3, "ARGNAME"),
    ("INTERNED", 29, "TEXT"),
    ("ENTRY", 1, "iid"),
    ("ENTRY", 2, "text"),
];

fn printed(message: &str, bytes: &[u8]) -> String {
    let is_entry = ["CATEGORY", "NAME", "ARGNAME", "TEXT"].contains(&message);
    let own = if is_entry { "ENTRY" } else { message };
    let mut words = Vec::new();
    for (number, value) in fields(bytes) {
        let known = FIELDS.iter().find(|(parent, field, _)| (*parent, *field) == (own, number));
        let (_, _, name) = known.unwrap_or_else(|| panic!("{own} has no field {number}"));
        words.push(match value {
            Value::Uint(number) => format!("{name}={number}"),
            Value::Bytes(bytes) if *name == name.to_uppercase() => {
                format!("{name}({})", printed(name, bytes))
            }
            Value::Bytes(bytes) => {
                format!("{name}={:?}", std::str::from_utf8(bytes).expect("text"))
            }
        });
    }
    words.join(" ")
}

/// Returns the packets as text, without what all have.
fn packets(view: &PipeView) -> Vec<String> {
    let mut out = Vec::new();
    super::write(&mut out, view, &Symbols::default()).expect("room");
    let packet = |(number, value): (u64, Value<'_>)| {
        let Value::Bytes(bytes) = value else { panic!("a packet") };
        assert_eq!(number, 1);
        let text = printed("PACKET", bytes);
        text.strip_suffix(" sequence=1 flags=2").map(str::to_owned).unwrap_or(text)
    };
    fields(&out).into_iter().map(packet).collect()
}

fn op(number: u64, issue: u64, spans: &[(Stage, u64, u64)], notes: &[&str]) -> TracedOp {
    let (from, to) = (spans[0].1, spans[spans.len() - 1].2);
    let timeline = OpTimeline {
        pc: 0x1000 + 4 * number,
        fetch: from,
        issue,
        complete: to - 1,
        retire: to - 1,
        retired: true,
        ..OpTimeline::default()
    };
    let span = |&(stage, from, to)| Span { stage, from, to };
    TracedOp {
        operation: Operation { timeline, number, ..Operation::default() },
        word: Some(0xd503_201f),
        in_order: Some(InOrder {
            spans: spans.iter().map(span).collect(),
            notes: notes.iter().map(|note| (*note).to_owned()).collect(),
        }),
        ..TracedOp::default()
    }
}

/// Two operations that execute in the cycles 10 to 12 and 11 to 13; the second waits for the first.
fn view() -> PipeView {
    let first = op(5, 10, &[(Stage::Stages, 10, 12)], &[]);
    let second = op(6, 13, &[(Stage::Stages, 11, 13), (Stage::Retire, 13, 14)], &["waited"]);
    let second = TracedOp { needs: vec![Need { place: 0, ready: 12 }], ..second };
    let (trace, window) = ("t".to_owned(), 5..7);
    let in_order = Some(Vec::new());
    PipeView { trace, window, ops: vec![first, second], in_order, ..PipeView::default() }
}

#[test]
fn every_stage_is_a_slice_with_arguments_and_arrows() {
    let root = "TRACK(uuid=1 name=\"t, thread 0, instructions 5 to 6: cycles 10 to 14\" ordering=3 \
                description=\"A nanosecond is a cycle of the core.\") sequence=1 flags=3";
    let interned = "INTERNED(CATEGORY(iid=1 text=\"correct path\") NAME(iid=2 text=\"nop\") \
                    ARGNAME(iid=3 text=\"instruction\") ARGNAME(iid=4 text=\"address\") \
                    ARGNAME(iid=5 text=\"place\") TEXT(iid=6 text=\"0x1014\"))";
    let more = "INTERNED(TEXT(iid=7 text=\"0x1018\") ARGNAME(iid=8 text=\"notes\") \
                TEXT(iid=9 text=\"waited\"))";
    let second = "category=1 name=2 ARG(name=3 uint=6) ARG(name=4 address=4120) \
                  ARG(name=5 text=7) ARG(name=8 ARG(text=9))";
    let expected = [
        root.to_owned(),
        "TRACK(uuid=2 parent=1 name=\"execute\" rank=5)".to_owned(),
        "TRACK(uuid=3 parent=1 name=\"execute\" rank=5)".to_owned(),
        "TRACK(uuid=4 parent=1 name=\"retire\" rank=8)".to_owned(),
        format!(
            "timestamp=10 {interned} EVENT(type=1 track=2 category=1 name=2 ARG(name=3 uint=5) \
             ARG(name=4 address=4116) ARG(name=5 text=6) flow=1)"
        ),
        format!("timestamp=11 {more} EVENT(type=1 track=3 {second})"),
        "timestamp=12 EVENT(type=2 track=2)".to_owned(),
        "timestamp=13 EVENT(type=2 track=3)".to_owned(),
        format!("timestamp=13 EVENT(type=1 track=4 {second} flow_end=1)"),
        "timestamp=14 EVENT(type=2 track=4)".to_owned(),
    ];
    assert_eq!(packets(&view()), expected);
}

#[test]
fn a_track_is_used_again_in_the_cycle_in_which_it_is_free() {
    let ops = [(10, 12), (11, 13), (12, 14), (13, 15)];
    let ops = ops
        .iter()
        .zip(0..)
        .map(|((from, to), number)| op(number, *from, &[(Stage::Stages, *from, *to)], &[]));
    let view = PipeView { ops: ops.collect(), ..view() };
    let packets = packets(&view);
    assert_eq!(
        packets.iter().filter(|packet| packet.starts_with("TRACK")).count(),
        3,
        "{packets:?}"
    );
    let of_event = |text: &str| packets.iter().position(|packet| packet.contains(text));
    let [end, begin] =
        ["timestamp=12 EVENT(type=2 track=2)", "timestamp=12 INTERNED("].map(of_event);
    assert!(end.is_some() && end < begin, "{packets:?}");
}

#[test]
fn a_squashed_operation_has_its_category_and_no_number() {
    let mut view = view();
    view.ops.truncate(1);
    view.ops[0].operation.timeline.wrong_path = true;
    let text = packets(&view).join("\n");
    assert!(text.contains("text=\"wrong path\"") && !text.contains("instruction\""), "{text}");
}
