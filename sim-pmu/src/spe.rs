//! The Statistical Profiling Extension: sampled operations and the records made of them (Arm DDI 0586).
//!
//! * [`mod@unit`]: the unit of one core, which hears every operation; [`registers`], `register_file`,
//!   `access`: what software sees of it; [`context`]: where it is on and whose the buffer is;
//! * `interval`: which operation is sampled; `collect`: what its record says; `sample_filter`: whether
//!   it is kept; `buffer`, [`buffer_memory`]: where it goes; [`config`]: the choices of the core;
//! * [`record`]: what a record can say; [`events`], [`operation_type`]: two of its words;
//! * [`packet`]: one packet as bytes and back; [`layout`]: the 64 bytes that N2 writes; [`decode`]: the
//!   records of any stream; `describe`: packets as text;
//! * [`driver`]: what an operating system does with the unit.

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
