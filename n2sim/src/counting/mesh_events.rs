//! Events of the mesh in the lists of `-e`, such as `arm_cmn_0/hnf_cache_miss/`. They count on no
//! core, but for the whole machine.

use std::io::{self, Write};

use sim_core::mesh_counts::MeshCounts;
use sim_machine::{Outcome, Session, floor_plan};
use sim_pmu::cmn::{Nodes, Reason, Selector, count, schedule};
use sim_report::stat::{self, Row, mesh_row};

use super::event_list;

/// Events of the mesh, in the order of the lists.
#[derive(Debug, Default)]
pub(crate) struct MeshEvents {
    selectors: Vec<Selector>,
}

/// Values of the events of the mesh, for a report.
#[derive(Debug, Default)]
pub(crate) struct MeshRows {
    /// One for each event.
    pub(crate) rows: Vec<Row>,
    /// Remarks for readers of the values.
    notes: Vec<String>,
}

impl MeshEvents {
    /// Takes the events of the mesh out of the lists of `-e`. Returns the lists of those of a core.
    ///
    /// # Errors
    /// A name of the mesh is wrong, or a group has events of both.
    pub(crate) fn take(lists: &[String]) -> anyhow::Result<(MeshEvents, Vec<String>)> {
        let (mut selectors, mut of_core) = (Vec::new(), Vec::new());
        for list in lists {
            let mut kept = Vec::new();
            for item in event_list::split(list)? {
                let (members, rest) = members(item.trim())?;
                let of_mesh = members.iter().filter(|member| Selector::is_meant_by(member)).count();
                if of_mesh == 0 {
                    kept.push(item);
                    continue;
                }
                if of_mesh < members.len() {
                    anyhow::bail!(
                        "'{item}': a group counts events of one PMU; put those of the mesh in a group of their own"
                    );
                }
                if !rest.is_empty() {
                    anyhow::bail!(
                        "'{item}': remove '{rest}': events of the mesh count at every level, and groups of them \
                         have no modifiers"
                    );
                }
                for member in members {
                    selectors.push(selector(member)?);
                }
            }
            if !kept.is_empty() {
                of_core.push(kept.join(","));
            }
        }
        Ok((MeshEvents { selectors }, of_core))
    }

    /// Returns whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.selectors.is_empty()
    }

    /// Returns the names, as typed.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> + '_ {
        self.selectors.iter().map(|selector| name(selector).to_owned())
    }

    /// Refuses an option that has no counts of the mesh.
    ///
    /// # Errors
    /// There are events of the mesh.
    pub(crate) fn refuse(&self, option: &str, why: &str) -> anyhow::Result<()> {
        match self.selectors.first() {
            None => Ok(()),
            Some(first) => anyhow::bail!("{option} has no counts of '{}': {why}", first.text),
        }
    }

    /// Checks the events against the mesh of a machine, before a run on it.
    ///
    /// # Errors
    /// As [`MeshEvents::rows`].
    pub(crate) fn check(&self, session: &Session) -> anyhow::Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let streams = session.trace().streams().iter();
        let cores = streams.filter(|stream| stream.instructions > 0).count();
        let plan = floor_plan(&session.config().memory, cores);
        let nodes = Nodes::new(&plan);
        let nothing = MeshCounts::new(plan);
        for selector in &self.selectors {
            if selector.node.is_some() && !nodes.has_own_identifiers() {
                anyhow::bail!("'{}': nodes of so large a mesh have no identifiers", selector.text);
            }
            count(selector, &nodes, &nothing)?;
        }
        Ok(())
    }

    /// Returns the values of a run, each beside itself as the exact count with `has_truth`.
    ///
    /// # Errors
    /// A selector names a node that the mesh does not have, or a field that the model does not
    /// know.
    pub(crate) fn rows(&self, outcome: &Outcome, has_truth: bool) -> anyhow::Result<MeshRows> {
        if self.is_empty() {
            return Ok(MeshRows::default());
        }
        let nodes = Nodes::new(&outcome.mesh.plan);
        let (mut rows, mut notes) = (Vec::new(), Vec::new());
        for selector in &self.selectors {
            let counted = count(selector, &nodes, &outcome.mesh)?;
            let name = name(selector);
            let mut row = mesh_row(name, counted.value, has_truth, outcome);
            match counted.zero {
                Some(Reason::AnyAtomic) => {
                    row.reading = stat::Reading::NotSupported;
                    notes.push(format!("{name} has no count: {}", Reason::AnyAtomic.text()));
                }
                Some(reason) => notes.push(format!("{name} is always 0: {}", reason.text())),
                None => {}
            }
            rows.push(row);
        }
        let schedule = schedule(&self.selectors, &nodes)?;
        for at in &schedule.never {
            let name = name(&self.selectors[*at]);
            notes.push(format!("no machine has the counters for {name}"));
        }
        let turns = schedule.turns.len();
        if turns > 1 {
            notes.push(format!(
                "exact counts of the mesh, for which a machine would have needed {turns} runs"
            ));
        }
        Ok(MeshRows { rows, notes })
    }
}

impl MeshRows {
    /// Returns the values alone; `None` for an event that has no count.
    pub(crate) fn values(&self) -> Vec<Option<u64>> {
        let value = |row: &Row| match row.reading {
            stat::Reading::Count(count) => Some(count),
            _ => None,
        };
        self.rows.iter().map(value).collect()
    }

    /// Writes the notes.
    pub(crate) fn write_notes(&self, out: &mut impl Write) -> io::Result<()> {
        self.notes.iter().try_for_each(|note| writeln!(out, "n2sim: note: {note}"))
    }
}

/// Returns the events of a group and the text after it, or the one event of an item.
fn members(item: &str) -> anyhow::Result<(Vec<&str>, &str)> {
    match item.strip_prefix('{').and_then(|group| group.split_once('}')) {
        None => Ok((vec![item], "")),
        Some((members, rest)) => {
            Ok((event_list::split(members)?.into_iter().map(str::trim).collect(), rest))
        }
    }
}

/// Returns the name to print.
fn name(selector: &Selector) -> &str {
    selector.label.as_ref().unwrap_or(&selector.text)
}

fn selector(text: &str) -> anyhow::Result<Selector> {
    let selector: Selector = text.parse()?;
    if selector.mesh != 0 {
        anyhow::bail!("'{text}': the machine has one mesh, arm_cmn_0");
    }
    Ok(selector)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(list: &str) -> anyhow::Result<(Vec<String>, Vec<String>)> {
        let (mesh, core) = MeshEvents::take(&[list.to_owned()])?;
        Ok((mesh.selectors.into_iter().map(|selector| selector.text).collect(), core))
    }

    #[test]
    fn events_of_the_mesh_leave_the_list_of_the_core() {
        let (mesh, core) = take(
            "cycles,arm_cmn_0/hnf_cache_miss/,{arm_cmn/type=5,eventid=2/,PMU_HNF_MC_REQS},{ld_spec,st_spec}:u",
        )
        .expect("the list is right");
        assert_eq!(
            mesh,
            ["arm_cmn_0/hnf_cache_miss/", "arm_cmn/type=5,eventid=2/", "PMU_HNF_MC_REQS"]
        );
        assert_eq!(core, ["cycles,{ld_spec,st_spec}:u"]);
        assert_eq!(take("dtc_cycles").expect("a name of a core at most").0, Vec::<String>::new());
    }

    #[test]
    fn what_is_wrong_is_said_with_the_remedy() {
        let message = |list| take(list).expect_err("the list is wrong").to_string();
        let mixed = message("{cycles,arm_cmn_0/hnf_cache_miss/}");
        assert!(mixed.contains("a group counts events of one PMU"), "{mixed}");
        let rest = message("{arm_cmn_0/hnf_cache_miss/}:u");
        assert!(rest.contains("remove ':u'"), "{rest}");
        assert!(message("arm_cmn_1/hnf_cache_miss/").contains("one mesh, arm_cmn_0"));
        assert!(message("arm_cmn_0/hnf_cache_mis/").contains("hnf_cache_miss"));
    }
}
