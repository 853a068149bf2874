//! Statistical Profiling Extension: sampled operations and their records (Arm DDI 0586).
//!
//! * [`mod@unit`]: the unit of one core, which observes every operation; [`registers`],
//!   `register_file`, `access`: its software interface; [`context`]: where profiling is enabled,
//!   and the owner of the buffer;
//! * `interval`: selection of the sampled operations; `collect`: contents of a record;
//!   `sample_filter`: the filters; `buffer`, [`buffer_memory`]: destination of the records;
//!   [`config`]: implementation choices of the core;
//! * [`record`]: the fields of a record; [`events`], [`operation_type`]: two of these fields;
//! * [`packet`]: encoding and decoding of one packet; [`layout`]: the 64-byte record of N2;
//!   [`decode`]: the records of any stream; `describe`: packets as text;
//! * [`driver`]: the operating system's use of the unit.

mod access;
mod buffer;
pub mod buffer_memory;
mod collect;
pub mod config;
pub mod context;
pub mod decode;
mod describe;
pub mod driver;
pub mod events;
mod interval;
pub mod layout;
pub mod operation_type;
pub mod packet;
pub mod record;
mod register_file;
pub mod registers;
mod sample_filter;
pub mod unit;

pub use buffer_memory::{BufferFault, BufferMemory, FaultKind};
pub use config::SpeConfig;
pub use context::{Owner, TimeStamp};
pub use decode::{Damage, Found, Item, Records};
pub use driver::{BufferDrain, Clocks, SpeDriver, SpeDrivers, SpeRequest};
pub use events::Events;
pub use layout::{N2_RECORD_BYTES, encode_n2};
pub use operation_type::{AccessClass, OperationClass, OperationType, SveShape};
pub use packet::{Packet, PacketError};
pub use record::{InstAddress, PhysicalAddress, SpeRecord, latency};
pub use registers::SpeRegister;
pub use unit::{SampleOutcome, SampledOp, Spe};
