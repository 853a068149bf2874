use super::*;

/// A grid of three columns and two rows: a core at the left bottom, a home node at the right
/// top, memory in the middle of the bottom row.
fn counts() -> MeshCounts {
    let at = |column, row| Crosspoint { column, row };
    MeshCounts::new(FloorPlan {
        columns: 3,
        rows: 2,
        cores: vec![at(0, 0)],
        homes: vec![at(2, 1)],
        memories: vec![at(1, 0)],
        corner: at(2, 1),
    })
}

#[test]
fn a_line_takes_two_flits_along_the_row_and_then_the_column() {
    let mut counts = counts();
    counts.send(Agent::Core(0), Agent::Home(0), Message::ReadUnique);
    counts.send(Agent::Home(0), Agent::Core(0), Message::CompData);
    let requests = counts.flits_by_side(Channel::Req);
    let (east, west, north, south) = (0, 1, 2, 3);
    assert_eq!([requests[0][east], requests[1][east], requests[2][north]], [1, 1, 1]);
    assert_eq!(requests.iter().flatten().sum::<u64>(), 3, "two hops, then one");
    let data = counts.flits_by_side(Channel::Dat);
    assert_eq!([data[5][west], data[4][west], data[3][south]], [2, 2, 2]);
    assert_eq!(data.iter().flatten().sum::<u64>(), 6);
    assert_eq!(counts.sent(Agent::Core(0), Message::ReadUnique), 1);
    assert_eq!(counts.received(Agent::Core(0), Message::CompData), 1);
}

#[test]
fn what_is_counted_later_is_the_difference() {
    let mut counts = counts();
    counts.raise(0, HomeEvent::CacheMiss);
    let before = counts.clone();
    counts.raise(0, HomeEvent::CacheMiss);
    counts.raise_dvm(DvmEvent::Tlbi, 2);
    let later = counts.since(&before);
    assert_eq!(later.of_homes(HomeEvent::CacheMiss), 1);
    assert_eq!(later.of_dvm(DvmEvent::Tlbi), 2);
    let mut sum = before;
    sum.add(&later);
    assert_eq!(sum, counts);
}

#[test]
fn agents_are_numbered_in_their_order() {
    let plan = counts().plan;
    for (number, agent) in plan.all().enumerate() {
        assert_eq!(plan.index(agent), number, "{agent:?}");
    }
    assert_eq!(plan.all().count(), plan.agents());
}

#[test]
fn events_have_numbers_that_fit_and_differ() {
    let numbers = HomeEvent::ALL.iter().map(|event| *event as usize);
    assert!(numbers.clone().is_sorted_by(|a, b| a < b) && numbers.max() < Some(HOME_EVENTS));
    let numbers = DvmEvent::ALL.iter().map(|event| *event as usize);
    assert!(numbers.clone().is_sorted_by(|a, b| a < b) && numbers.max() < Some(DVM_EVENTS));
}
