//! The core from outside: kernels, delivery, random programs and the branch predictor.

mod delivery;
mod kernels;
mod ledger;
mod limits;
mod measured;
mod on_record;
mod predictor;
mod random;
#[path = "random/rare.rs"]
mod rare;
mod root_causes;
mod routes;
mod wrong_path_port;
