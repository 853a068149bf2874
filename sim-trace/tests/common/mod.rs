//! Small traces for tests: recordings as plain data, written to memory, with the expected result of
//! reading them.

#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use std::io::Cursor;
use std::path::Path;

use proptest::prelude::*;
use sim_core::{InstFlags, TraceInst};
use sim_trace::{
    Access, BlockId, EventAt, Meta, StreamEvent, StreamReader, Summary, Symbol, TraceError,
    TraceFile, TraceWriter, WriterOptions,
};

pub(crate) const NOP: u32 = 0xd503_201f;
pub(crate) const LDR: u32 = 0xf940_0041;
pub(crate) const STR: u32 = 0xf900_0041;
pub(crate) const STXR: u32 = 0xc803_7c41;
pub(crate) const STLXP: u32 = 0xc823_8c41;
pub(crate) const RET: u32 = 0xd65f_03c0;
pub(crate) const B_EQ: u32 = 0x5400_0040;
pub(crate) const SVC: u32 = 0xd400_0001;

pub(crate) type Bytes = Cursor<Vec<u8>>;

/// One execution of a block.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) stream: u32,
    pub(crate) block: usize,
    pub(crate) executed: u16,
    /// (index, address) in increasing order.
    pub(crate) accesses: Vec<(u16, u64)>,
    pub(crate) event: Option<StreamEvent>,
}

/// A recording as plain data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    pub(crate) blocks: Vec<(u64, Vec<u32>)>,
    pub(crate) pages: Vec<(u64, Vec<u8>)>,
    pub(crate) runs: Vec<Run>,
    pub(crate) chunk_instructions: u32,
}

pub(crate) fn path() -> &'static Path {
    Path::new("memory.n2t")
}

pub(crate) fn meta() -> Meta {
    Meta {
        producer: "test 1".into(),
        command: vec!["./prog".into(), "a b".into()],
        engine: "none".into(),
        cpu: "neoverse-n2".into(),
        gaps: vec!["PRFM addresses are absent".into()],
        recipe: None,
        symbols: vec![Symbol { name: "main".into(), addr: 0xffff_0000_0000_1000, size: 64 }],
        ..Meta::default()
    }
}

impl Recording {
    pub(crate) fn write(&self) -> Vec<u8> {
        self.write_with_summary().0
    }

    pub(crate) fn write_with_summary(&self) -> (Vec<u8>, Summary) {
        let options =
            WriterOptions { level: 3, chunk_instructions: self.chunk_instructions.max(1) };
        let sink = Cursor::new(Vec::new());
        let mut writer = TraceWriter::new(sink, path(), meta(), options).unwrap();
        for (va, bytes) in &self.pages {
            writer.image_page(*va, bytes).unwrap();
        }
        // Define blocks at their first run, as a recorder does.
        let mut ids: Vec<Option<BlockId>> = vec![None; self.blocks.len()];
        for run in &self.runs {
            let (pc, words) = &self.blocks[run.block];
            let id =
                *ids[run.block].get_or_insert_with(|| writer.define_block(*pc, words).unwrap());
            let accesses: Vec<Access> =
                run.accesses.iter().map(|&(index, addr)| Access { index, addr }).collect();
            writer.push_block(run.stream, id, run.executed, &accesses, run.event).unwrap();
        }
        let (summary, sink) = writer.finish_into().unwrap();
        (sink.into_inner(), summary)
    }

    /// Returns the expected content of `stream`.
    pub(crate) fn expected(&self, stream: u32) -> Played {
        let mut played = Played::default();
        for run in self.runs.iter().filter(|run| run.stream == stream) {
            let (pc, words) = &self.blocks[run.block];
            for (i, &word) in words[..usize::from(run.executed)].iter().enumerate() {
                let addr = run.accesses.iter().find(|a| usize::from(a.0) == i).map(|a| a.1);
                let exclusive = [STXR, STLXP].contains(&word);
                let flags = match addr {
                    Some(_) => InstFlags::HAS_ADDR,
                    None if exclusive => InstFlags::EXCLUSIVE_FAILED,
                    None => InstFlags::default(),
                };
                let addr = addr.unwrap_or(0);
                played.insts.push(PlayedInst { pc: pc + 4 * i as u64, word, addr, flags });
            }
            if let Some(event) = run.event {
                played.event(event);
            }
        }
        played
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlayedInst {
    pub(crate) pc: u64,
    pub(crate) word: u32,
    pub(crate) addr: u64,
    pub(crate) flags: InstFlags,
}

/// A stream as plain data. Events have their position in the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Played {
    pub(crate) insts: Vec<PlayedInst>,
    pub(crate) events: Vec<(u64, StreamEvent)>,
}

impl Played {
    fn event(&mut self, event: StreamEvent) {
        self.events.push((self.insts.len() as u64, event));
        if let Some(last) = self.insts.last_mut() {
            if event.breaks_flow() {
                last.flags = last.flags.with(InstFlags::DISCONTINUITY);
            }
            if event.abandons() {
                last.flags = last.flags.with(InstFlags::ABANDONED);
            }
        }
    }

    /// Returns this stream without the redirects that the writer adds.
    pub(crate) fn without_redirects(mut self) -> Played {
        let redirect = |event: &StreamEvent| *event == StreamEvent::Redirect;
        for &(position, event) in &self.events {
            let others =
                self.events.iter().any(|(p, e)| *p == position && !redirect(e) && e.breaks_flow());
            if redirect(&event) && !others && position > 0 {
                self.insts[position as usize - 1].flags.0 &= !InstFlags::DISCONTINUITY.0;
            }
        }
        self.events.retain(|(_, event)| !redirect(event));
        self
    }
}

pub(crate) fn open(bytes: Vec<u8>) -> Result<TraceFile<Bytes>, TraceError> {
    TraceFile::from_reader(Cursor::new(bytes), path())
}

/// Reads the rest of `reader`.
pub(crate) fn play(
    file: &TraceFile<Bytes>,
    mut reader: StreamReader<Bytes>,
) -> Result<Played, TraceError> {
    let mut played = Played::default();
    let mut batch: Vec<TraceInst> = Vec::new();
    let mut first = None;
    while reader.next_batch(&mut batch)? {
        let start = *first.get_or_insert(reader.batch_start());
        assert_eq!(reader.batch_start() - start, played.insts.len() as u64);
        for &EventAt { position, event } in reader.events() {
            assert!(position as usize <= batch.len());
            played.events.push((played.insts.len() as u64 + u64::from(position), event));
        }
        played.insts.extend(batch.iter().map(|inst| {
            let code = file.statics().insts()[inst.id as usize];
            PlayedInst { pc: code.pc, word: code.word, addr: inst.addr, flags: inst.flags }
        }));
    }
    Ok(played)
}

/// Reads all streams of a file.
pub(crate) fn play_all(bytes: Vec<u8>) -> Result<Vec<(u32, Played)>, TraceError> {
    let file = open(bytes)?;
    let streams: Vec<u32> = file.streams().iter().map(|s| s.stream).collect();
    streams.into_iter().map(|s| Ok((s, play(&file, file.reader(s)?)?))).collect()
}

fn event() -> impl Strategy<Value = Option<StreamEvent>> {
    prop_oneof![
        20 => Just(None),
        1 => any::<(u64, [u64; 6], Option<i64>)>()
            .prop_map(|(number, args, result)| Some(StreamEvent::Syscall { number, args, result })),
        1 => any::<(u32, bool)>()
            .prop_map(|(number, abandoned)| Some(StreamEvent::Signal { number, abandoned })),
        1 => any::<(u32, bool, u8, u64, u8)>().prop_map(
            |(vector, abandoned, level, syndrome, state)| {
                Some(StreamEvent::Exception { vector, abandoned, level, syndrome, state })
            },
        ),
        1 => any::<Option<u64>>().prop_map(|instructions| Some(StreamEvent::Gap { instructions })),
        1 => (any::<u64>(), 0u16..2)
            .prop_map(|(order, back)| Some(StreamEvent::Ticket { order, back })),
        1 => any::<u64>().prop_map(|id| Some(StreamEvent::Marker { id })),
        1 => any::<u64>().prop_map(|thread| Some(StreamEvent::ThreadStart { thread })),
        1 => any::<u64>().prop_map(|thread| Some(StreamEvent::ThreadEnd { thread })),
        1 => any::<u64>().prop_map(|space| Some(StreamEvent::ContextSwitch { space })),
        1 => any::<(u64, u64, bool)>()
            .prop_map(|(addr, bytes, mapped)| Some(StreamEvent::Mapping { addr, bytes, mapped })),
    ]
}

fn address() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => (0u64..64).prop_map(|i| 0x40_0000 + 8 * i),
        2 => (0u64..1 << 20).prop_map(|i| 0xffff_8000_0000_0000 + i),
        1 => any::<u64>(),
    ]
}

fn block() -> impl Strategy<Value = (u64, Vec<u32>)> {
    let word = prop::sample::select(vec![NOP, LDR, STR, STXR, STLXP, RET, B_EQ, SVC]);
    let pc = prop_oneof![
        4 => (0u64..4096).prop_map(|i| 0x1000 + 4 * i),
        1 => (0u64..u64::MAX / 4 - 64).prop_map(|i| 4 * i),
    ];
    (pc, prop::collection::vec(word, 1..24))
}

/// Strategy for a page that overlaps with many of the blocks and matches some.
fn page() -> impl Strategy<Value = (u64, Vec<u8>)> {
    let word = prop::sample::select(vec![NOP, LDR, STR, RET]);
    let words = prop::collection::vec(word, 4)
        .prop_map(|words| words.iter().cycle().take(1024).flat_map(|w| w.to_le_bytes()).collect());
    ((0u64..6).prop_map(|i| i * 4096), words)
}

fn run(blocks: Vec<(u64, Vec<u32>)>) -> impl Strategy<Value = Run> {
    let n = blocks.len();
    (0u32..3, 0..n, any::<u64>(), any::<u16>(), prop::collection::vec(address(), 24), event())
        .prop_map(move |(stream, block, mask, cut, addrs, event)| {
            let len = blocks[block].1.len() as u16;
            // One in eight is partial.
            let executed = if cut % 8 == 0 { cut / 8 % len } else { len };
            // Usually the same instructions access memory, sometimes others.
            let mask = if mask % 4 == 0 { mask >> 2 } else { 0x5555 };
            let accesses =
                (0..executed).filter(|i| mask >> i & 1 == 1).map(|i| (i, addrs[usize::from(i)]));
            Run { stream, block, executed, accesses: accesses.collect(), event }
        })
}

/// Strategy for random recordings: several streams, overlapping blocks, partial runs, all events.
pub(crate) fn recordings() -> impl Strategy<Value = Recording> {
    (
        prop::collection::vec(block(), 1..12),
        prop::collection::vec(page(), 0..4),
        prop_oneof![1u32..40, Just(1000)],
    )
        .prop_flat_map(|(blocks, pages, chunk_instructions)| {
            prop::collection::vec(run(blocks.clone()), 0..200).prop_map(move |runs| Recording {
                blocks: blocks.clone(),
                pages: pages.clone(),
                runs,
                chunk_instructions,
            })
        })
}

/// Returns a small fixed recording with a loop, a strided load, a partial block, a signal, two
/// threads and several chunks.
pub(crate) fn sample() -> Recording {
    let blocks = vec![
        (0x1000, vec![NOP, LDR, STR, B_EQ]),
        (0x1010, vec![STXR, RET]),
        (0x7000, vec![LDR, LDR, SVC]),
    ];
    let page = |word: u32| word.to_le_bytes().repeat(1024);
    let mut runs = Vec::new();
    for i in 0..24u64 {
        runs.push(Run {
            stream: (i / 8 % 2) as u32,
            block: 0,
            executed: 4,
            accesses: vec![(1, 0x8000 + 16 * i), (2, 0xff00 - i * i)],
            event: None,
        });
        runs.push(Run {
            stream: (i / 8 % 2) as u32,
            block: 1,
            executed: if i == 9 { 1 } else { 2 },
            accesses: if i % 3 == 0 { vec![] } else { vec![(0, 0x9000)] },
            event: (i == 9).then_some(StreamEvent::Signal { number: 11, abandoned: true }),
        });
    }
    runs.push(Run {
        stream: 0,
        block: 2,
        executed: 3,
        accesses: vec![(0, 16), (1, 32)],
        event: Some(StreamEvent::Syscall { number: 93, args: [1; 6], result: None }),
    });
    let pages = vec![(0x1000, page(NOP)), (0x7000, page(LDR))];
    Recording { blocks, pages, runs, chunk_instructions: 30 }
}
