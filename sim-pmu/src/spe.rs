//! The Statistical Profiling Extension: sampled operations and the records made of them (Arm DDI 0586).
//!
//! * [`record`]: what a record can say; [`events`], [`operation_type`]: two of its words;
//! * [`packet`]: one packet as bytes and back; [`layout`]: the 64 bytes that N2 writes.

pub mod events;
pub mod layout;
pub mod operation_type;
pub mod packet;
pub mod record;

pub use events::Events;
pub use layout::{N2_RECORD_BYTES, encode_n2};
pub use operation_type::{AccessClass, OperationClass, OperationType, SveShape};
pub use packet::{Packet, PacketError};
pub use record::{InstAddress, PhysicalAddress, SpeRecord, latency};
