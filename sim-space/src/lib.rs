//! The combinations of event counts that can occur together, by the flows of the PMU guide.
//!
//! Each path of an access through the flows (guide chapter 5) is a vector of counts, a generator.
//! The counts of any program are a sum of such vectors. So they lie in a cone, which has a second
//! form: linear inequalities between events, its half-spaces. Rules between counts that no flow
//! states come from [`sim_metrics::identities`].
//!
//! * [`Space`]: the generators and rules; [`Space::test`] decides whether counts are inside;
//! * [`Table`]: counts, each with its tolerance; events without a count are open;
//! * [`Space::project`]: both forms over some events; [`FAMILIES`]: events that belong together;
//! * [`Inequality`]: what counts outside violate, proven in whole numbers on every generator.
//!
//! No result rests on floating point: the linear program and the conversion between both forms
//! calculate with whole numbers.

mod cone;
mod families;
mod generator;
mod inequality;
mod other_counts;
mod paths;
mod projection;
mod simplex;
mod space;
mod table;

pub use families::{FAMILIES, Family};
pub use generator::Generator;
pub use inequality::Inequality;
pub use projection::{Projection, ProjectionTooLarge, Ray};
pub use space::Space;
pub use table::{Membership, Table};
