//! Expected counts of the mesh: `mesh = "hnf_cache_miss 1, SnpUnique 2; others 0"`.
//!
//! A name is one of Linux' events of the mesh without filter, or a message of CHI, whoever sends
//! it. Names that are not stated are not checked, unless `others 0` says that every other event of
//! home nodes and of the DVM node is 0.

use sim_core::chi::Message;
use sim_core::spelling::similar;
use sim_pmu::cmn::Selector;
use sim_pmu::cmn::events::{Event, event_with_linux_name, events};

use super::bound::{Bound, parse_bound};
use super::cursor::Cursor;
use super::error::{Fault, Problem};

/// Subject of an expectation about the mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeshName {
    /// An event of the mesh, all nodes together.
    Event(Selector),
    /// Messages with this name in CHI, of all agents.
    Message(&'static str),
}

/// Expected counts of one event or message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshClaim {
    /// Name as written.
    pub name: String,
    /// The event or message.
    pub subject: MeshName,
    /// Expected counts.
    pub bound: Bound,
}

/// Expected counts of the mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeshExpectation {
    /// Stated events and messages.
    pub claims: Vec<MeshClaim>,
    /// Every event of home nodes and of the DVM node that is not stated must be 0.
    pub others_zero: bool,
}

impl MeshExpectation {
    /// Returns whether nothing is expected, so that the mesh need not be counted.
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty() && !self.others_zero
    }
}

/// Reads a whole text of expected counts.
pub(super) fn parse_mesh(cursor: &mut Cursor) -> Result<MeshExpectation, Fault> {
    let mut mesh = MeshExpectation::default();
    loop {
        parse_part(cursor, &mut mesh)?;
        if cursor.is_done() {
            return Ok(mesh);
        }
        if !(cursor.take(",") || cursor.take(";")) {
            return Err(cursor.expected("';' or ','"));
        }
    }
}

fn parse_part(cursor: &mut Cursor, mesh: &mut MeshExpectation) -> Result<(), Fault> {
    if cursor.take_word("others") {
        let offset = cursor.offset();
        mesh.others_zero = cursor.number()? == Some(0);
        let problem = || {
            let expected = "'others 0'; leave it out if other events are not checked".to_owned();
            Problem::Expected { expected, found: "another count".to_owned() }
        };
        return if mesh.others_zero { Ok(()) } else { Err(Fault::new(offset, problem())) };
    }
    let offset = cursor.offset();
    let Some(name) = cursor.word() else {
        return Err(cursor.expected("an event or a message of the mesh, as in hnf_cache_miss 1"));
    };
    let subject = subject(name).ok_or_else(|| Fault::new(offset, unknown(name)))?;
    if mesh.claims.iter().any(|claim| claim.name == name) {
        return Err(Fault::new(offset, Problem::MeshTwice(name.to_owned())));
    }
    let bound = parse_bound(cursor)?;
    mesh.claims.push(MeshClaim { name: name.to_owned(), subject, bound });
    Ok(())
}

fn subject(name: &str) -> Option<MeshName> {
    if let Some(message) = Message::ALL.into_iter().find(|message| message.name() == name) {
        return Some(MeshName::Message(message.name()));
    }
    event_with_linux_name(name)?;
    format!("arm_cmn_0/{name}/").parse().ok().map(MeshName::Event)
}

fn unknown(name: &str) -> Problem {
    let events: Vec<String> =
        events().iter().flat_map(Event::linux_names).map(|(name, _)| name).collect();
    let messages = Message::ALL.iter().map(|message| message.name());
    let known: Vec<&str> = events.iter().map(String::as_str).chain(messages).collect();
    let near = similar(name, known.iter().copied());
    let hint = match near {
        Some(near) => format!("did you mean '{near}'?"),
        None => String::from(
            "'n2sim list events --mesh' lists events, such as hnf_cache_miss; messages have their \
             names in CHI, such as ReadUnique",
        ),
    };
    Problem::UnknownMeshName { name: name.to_owned(), hint }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    const HEAD: &str = "guide = 'CHI'\nclaim = 'c'\ntest = 't'\ngiven = 'K1, 2 cores'\n\
        do = 'core 1 writes 0x8000 ; LD8 0x8000'\n";

    fn mesh(text: &str) -> MeshExpectation {
        let file = format!("{HEAD}mesh = '{text}'");
        parse("a.toml", &file).map_or_else(|error| panic!("{error}"), |cases| cases[0].mesh.clone())
    }

    fn error(body: &str) -> String {
        let parsed = parse("a.toml", &format!("{HEAD}{body}"));
        parsed.map_or_else(|error| error.to_string(), |_| panic!("accepted: {body}"))
    }

    #[test]
    fn events_messages_and_all_others_are_read() {
        let mesh = mesh("hnf_cache_miss 1, CompData >= 2; others 0");
        let stated = mesh.claims.iter().map(|claim| (claim.name.as_str(), claim.bound));
        let many = Bound { min: 2, max: u64::MAX };
        assert!(stated.eq([("hnf_cache_miss", Bound::exactly(1)), ("CompData", many)]));
        assert_eq!(mesh.claims[1].subject, MeshName::Message("CompData"));
        assert!(mesh.others_zero);
    }

    #[test]
    fn a_wrong_name_is_one_message_with_place_and_remedy() {
        let message = error("mesh = 'hnf_cache_mis 1'");
        assert!(message.starts_with("a.toml:6:9: "), "{message}");
        assert!(message.contains("did you mean 'hnf_cache_miss'?"), "{message}");
        let message = error("mesh = 'SnpUniqe 1'");
        assert!(message.contains("did you mean 'SnpUnique'?"), "{message}");
        assert!(error("mesh = 'L1D_CACHE 1'").contains("n2sim list events --mesh"));
        assert!(error("mesh = 'CompAck 1, CompAck 2'").contains("stated twice"));
        assert!(error("mesh = 'others 1'").contains("'others 0'"));
        assert!(error("mesh = 'CompAck'").contains("a count"));
    }

    #[test]
    fn a_case_with_counts_of_the_mesh_needs_no_others() {
        let file = format!("{HEAD}mesh = 'CompAck 2'");
        let cases = parse("a.toml", &file).expect("the mesh is an expectation");
        assert!(cases[0].expect.events.is_empty());
    }

    #[test]
    fn a_step_of_a_missing_core_is_refused() {
        let of_core = |given: &str, core: &str| {
            let head = "guide = 'CHI'\nclaim = 'c'\ntest = 't'\nmesh = 'CompAck 1'\n";
            let text = format!("{head}given = '{given}'\ndo = 'core {core} reads 0x8000'");
            parse("a.toml", &text).expect_err("it has no such core").to_string()
        };
        let remedy = "no core 2; write given = \"K1, 3 cores\"";
        assert!(of_core("K1, 2 cores", "2").contains(remedy));
        assert!(of_core("K1", "1").contains("no core 1"));
        assert!(of_core("K1, 2 cores", "0").contains("core 0 executes"));
        assert!(of_core("K1, 1 cores", "1").contains("2 to 64"));
    }
}
