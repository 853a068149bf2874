use sim_core::PmuEvent;
use sim_metrics::{Count, identities::Assumptions};
use sim_space::{Membership, Space, Table};
use std::collections::BTreeMap;
#[test]
fn explore() {
    let t0 = std::time::Instant::now();
    let space = Space::new(&Assumptions::default(), |_| None);
    eprintln!(
        "{} generators, {} rules, {:?}",
        space.generators().len(),
        space.rules().count(),
        t0.elapsed()
    );
    for r in space.rules() {
        eprintln!("  {r}");
    }
    let text = std::fs::read_to_string("/tmp/w/space/all.txt").unwrap();
    let (mut bad, mut n) = (0, 0);
    let mut worst = std::time::Duration::ZERO;
    for line in text.lines() {
        let mut parts = line.split(' ');
        let name = parts.next().unwrap();
        let table: BTreeMap<PmuEvent, u64> = parts
            .map(|p| {
                let (e, c) = p.split_once('=').unwrap();
                (PmuEvent::from_name(e).unwrap(), c.parse().unwrap())
            })
            .collect();
        let t = Table::new(table.iter().map(|(e, c)| (*e, Count::from(*c))), 0.0);
        let t0 = std::time::Instant::now();
        let m = space.test(&t);
        worst = worst.max(t0.elapsed());
        n += 1;
        match m {
            Membership::Inside => {}
            Membership::Undecided => eprintln!("{name}: undecided"),
            Membership::Outside(i) => {
                bad += 1;
                if bad < 60 {
                    eprintln!(
                        "{name}: {i} {:?} {:?} {:?}",
                        i.values(|e| table.get(&e).copied()),
                        i.sections(),
                        i.rules()
                    );
                }
            }
        }
    }
    eprintln!("{bad} of {n} outside; worst {worst:?}");
}
#[test]
fn explore_families() {
    let space = Space::new(&Assumptions::default(), |_| None);
    for f in sim_space::FAMILIES {
        let t0 = std::time::Instant::now();
        match space.project(f.events) {
            Err(e) => eprintln!("{}: {e}", f.sections),
            Ok(p) => {
                eprintln!(
                    "{} {}: {} rays {} half {:?}",
                    f.sections,
                    f.title,
                    p.rays().len(),
                    p.half_spaces().len(),
                    t0.elapsed()
                );
                for h in p.half_spaces() {
                    eprintln!("    {h}");
                }
            }
        }
    }
}
