use super::*;
use proptest::prelude::*;

fn parsed(text: &str) -> Selector {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn message(text: &str) -> String {
    match text.parse::<Selector>() {
        Ok(selector) => panic!("{selector:?}"),
        Err(error) => error.to_string(),
    }
}

/// Type, number and selection of an event.
fn event(text: &str) -> (Option<u16>, u16, u8) {
    match parsed(text).target {
        Target::Event { event, occupid } => (event.node.number(), event.code, occupid),
        Target::Watchpoint(watchpoint) => panic!("{watchpoint:?}"),
    }
}

fn watchpoint(text: &str) -> Watchpoint {
    match parsed(text).target {
        Target::Watchpoint(watchpoint) => watchpoint,
        Target::Event { event, .. } => panic!("{event:?}"),
    }
}

#[test]
fn an_event_has_a_name_or_numbers() {
    for text in [
        "arm_cmn_0/hnf_cache_miss/",
        "arm_cmn/hnf_cache_miss/",
        "arm_cmn_0/type=5,eventid=0x1/",
        "arm_cmn_0/type=0x5,eventid=1/",
        "arm_cmn_0/config=0x10005/",
        "arm_cmn_0/PMU_HNF_CACHE_MISS/",
        "PMU_HNF_CACHE_MISS",
        "hnf_cache_miss",
    ] {
        assert_eq!(event(text), (Some(5), 1, 0), "{text}");
        assert_eq!(parsed(text).node, None, "{text}");
    }
    assert_eq!(event("arm_cmn_0/mxp_e_dat_txflit_valid/"), (Some(6), 0x61, 0));
    assert_eq!(event("arm_cmn_0/dn_dvmsync/"), (Some(1), 5, 0));
    assert_eq!(event("arm_cmn_0/rnid_txdat_flits/"), (Some(0xA), 5, 0));
    assert_eq!(event("arm_cmn_0/type=512,eventid=1/"), (Some(0x200), 1, 0));
}

#[test]
fn the_cycle_counter_needs_no_number() {
    for text in ["arm_cmn_0/dtc_cycles/", "arm_cmn_0/type=3/", "SYS_CMN_CYCLES"] {
        assert_eq!(event(text), (Some(3), 0, 0), "{text}");
    }
}

#[test]
fn a_filter_is_in_the_name_or_in_occupid() {
    assert_eq!(event("arm_cmn_0/type=5,eventid=0xf,occupid=1/"), (Some(5), 0xF, 1));
    assert_eq!(event("arm_cmn_0/hnf_qos_pocq_occupancy_read/"), (Some(5), 0xF, 1));
    assert_eq!(event("arm_cmn_0/PMU_HNF_POCQ_OCCUPANCY,occupid=3/"), (Some(5), 0xF, 3));
}

#[test]
fn a_node_is_selected_by_its_identifier() {
    for text in [
        "arm_cmn_0/hnf_cache_miss,bynodeid=1,nodeid=0x28/",
        "arm_cmn_0/hnf_cache_miss,bynodeid,nodeid=40/",
        "arm_cmn_0/config=0x2880010005/",
    ] {
        assert_eq!(parsed(text).node, Some(0x28), "{text}");
    }
    let other = parsed("arm_cmn_3/hnf_cache_miss,name=misses/");
    assert_eq!((other.mesh, other.to_string().as_str()), (3, "misses"));
    assert_eq!(parsed("dtc_cycles").to_string(), "dtc_cycles");
}

#[test]
fn a_watchpoint_has_port_channel_group_value_and_mask() {
    let text = "arm_cmn_0/watchpoint_down,wp_dev_sel=1,wp_chn_sel=2,wp_grp=1,wp_val=0x5,\
                wp_mask=0xfffffffffffffff0,wp_exclusive=1,bynodeid=1,nodeid=0x48/";
    let expected = Watchpoint {
        direction: Direction::Down,
        devices: Devices::Port(1),
        channel: Channel::Snp,
        group: Group::Secondary,
        exclusive: true,
        value: 5,
        mask: 0xFFFF_FFFF_FFFF_FFF0,
    };
    assert_eq!(watchpoint(text), expected);
    assert_eq!(parsed(text).node, Some(0x48));
    let numbered = "arm_cmn_0/type=0x7770,eventid=2,config1=5,config2=0xfffffffffffffff0,\
                    wp_dev_sel=1,wp_chn_sel=2,wp_grp=1,wp_exclusive/";
    assert_eq!(watchpoint(numbered), expected);
}

#[test]
fn a_named_watchpoint_is_at_the_ports_of_its_kind() {
    let named = watchpoint("CMN_RNF_WP_TXREQ_COUNT");
    assert_eq!(named.devices, Devices::Kind(NodeKind::RnF));
    assert_eq!((named.direction, named.mask), (Direction::Up, u64::MAX));
    let selector = parsed("arm_cmn_0/cmn_rnf_wp_txreq_count,bynodeid=1,nodeid=8/");
    assert_eq!(selector.node, Some(8));
    assert!(Selector::is_meant_by("CMN_RNF_WP_TXREQ_COUNT"));
    assert!(Selector::is_meant_by("arm_cmn_0/x/") && !Selector::is_meant_by("inst_retired"));
}

#[test]
fn a_wrong_name_is_reported_with_one_that_resembles_it() {
    let text = "arm_cmn_0/hnf_cache_mis/";
    let expected = "event \"arm_cmn_0/hnf_cache_mis/\": no event or field \"hnf_cache_mis\"; \
                    did you mean \"hnf_cache_miss\"?";
    assert_eq!(message(text), expected);
    let field = message("arm_cmn_0/type=5,evntid=1/");
    assert!(field.ends_with("no event or field \"evntid\"; did you mean \"eventid\"?"), "{field}");
    let filter = message("arm_cmn_0/hnf_qos_pocq_occupancy/");
    assert!(filter.contains("did you mean \"hnf_qos_pocq_occupancy_all\"?"), "{filter}");
    let far = message("arm_cmn_0/zzzzzzzzzzzzzzz/");
    assert!(far.contains("names begin with the node: hnf_, dn_"), "{far}");
}

#[test]
fn a_wrong_value_is_reported_with_its_field() {
    let ends = [
        (
            "arm_cmn_0/type=5,eventid=0x800/",
            "eventid=0x800 is too large; the largest value is 0x7ff",
        ),
        (
            "arm_cmn_0/hnf_cache_miss,nodeid=99999999999999999999/",
            "nodeid=99999999999999999999 is too large; the largest value is 0xffff",
        ),
        (
            "arm_cmn_0/type=five/",
            "type=five is not a number; write decimal digits or 0x and hexadecimal ones",
        ),
        ("arm_cmn_0/type=5,type=6/", "type is given twice; give it once"),
        ("arm_cmn_0/hnf_cache_miss,eventid=2/", "eventid is given twice; give it once"),
        (
            "arm_cmn_0/hnf_cache_miss,hnf_sf_hit/",
            "the name of the event is given twice; give it once",
        ),
        (
            "arm_cmn_0/hnf_cache_miss,wp_val=0/",
            "wp_val is a field of watchpoint_up and watchpoint_down; leave it out",
        ),
        (
            "arm_cmn_0/type=5,eventid=0x3f/",
            "HN-F (type=0x5) has no event 0x3f; its events are 0x1 to 0x2f",
        ),
        (
            "arm_cmn_0/type=99,eventid=1/",
            "no node has type=0x63; HN-F is 0x5, crosspoints are 0x6, the cycle counter is 0x3",
        ),
        (
            "arm_cmn_0/eventid=1/",
            "type is missing; give the name of an event, or the type of the node: HN-F is 0x5",
        ),
        (
            "arm_cmn_0/hnf_cache_miss/u",
            "\"u\" after the last slash; events of the mesh have no modifiers, leave it out",
        ),
        (
            "armv8_pmuv3_0/cpu_cycles/",
            "not an event of the mesh; write arm_cmn_0/EVENT/, such as arm_cmn_0/hnf_cache_miss/",
        ),
    ];
    for (text, end) in ends {
        assert_eq!(message(text), format!("event \"{text}\": {end}"));
    }
}

#[test]
fn a_node_needs_both_of_its_fields() {
    let missing = message("arm_cmn_0/hnf_cache_miss,bynodeid=1/");
    assert!(missing.ends_with("nodeid is missing; it is the identifier of the node to count"));
    let useless = message("arm_cmn_0/hnf_cache_miss,nodeid=8/");
    assert!(useless.contains("bynodeid is missing; without bynodeid=1, nodeid has no effect"));
}

#[test]
fn a_watchpoint_needs_all_of_its_fields() {
    let text =
        |more: &str| format!("arm_cmn_0/watchpoint_up,wp_dev_sel=0,wp_chn_sel=0,wp_val=0{more}/");
    let group = message(&text(",wp_mask=0"));
    assert!(
        group.ends_with("wp_grp is missing; 0 is the primary group of fields, 1 the secondary one")
    );
    let mask = message(&text(",wp_grp=0"));
    assert!(mask.contains("wp_mask is missing; its bits 1 are ignored"), "{mask}");
    let third = message(&text(",wp_mask=0,wp_grp=2"));
    assert!(third.contains("wp_grp=0x2 is not possible; 0 is the primary"), "{third}");
    let combined = message(&text(",wp_mask=0,wp_grp=0,wp_combine=1"));
    assert!(combined.contains("wp_combine=0x1 is not possible"), "{combined}");
    let direction = message("arm_cmn_0/type=0x7770,eventid=1/");
    assert!(direction.contains("eventid=0x1 is not possible; 0 is watchpoint_up"), "{direction}");
    let channel = message("arm_cmn_0/type=0x7770,eventid=0,wp_chn_sel=4/");
    assert!(channel.contains("wp_chn_sel=0x4 is not possible; 0 is REQ"), "{channel}");
}

#[test]
fn events_of_the_topdown_tool_are_taken() {
    assert_eq!(event("arm_cmn_0/type=5,eventid=15,occupid=0x1/"), (Some(5), 0xF, 1));
    let text = "arm_cmn_0/watchpoint_up,bynodeid,nodeid=0x88,wp_dev_sel=1,wp_chn_sel=0,wp_grp=1,\
                wp_mask=0xffffffffffffffff,wp_val=0x0/";
    assert_eq!(parsed(text).node, Some(0x88));
    let named = watchpoint("CMN_RNF_WP_TXREQ_COUNT");
    assert_eq!(watchpoint(text), Watchpoint { devices: Devices::Port(1), ..named });
}

proptest! {
    #[test]
    fn any_text_is_taken_or_refused(text in ".{0,60}") {
        let _ = text.parse::<Selector>();
    }

    #[test]
    fn any_words_are_taken_or_refused(config: u64, value: u64, mask: u64) {
        let text = format!("arm_cmn_0/config={config:#x},config1={value},config2={mask:#x}/");
        if let Ok(Selector { target: Target::Watchpoint(watchpoint), .. }) = text.parse() {
            prop_assert_eq!((watchpoint.value, watchpoint.mask), (value, mask));
        }
    }

    #[test]
    fn an_event_by_its_numbers_is_the_one_of_the_table(type_ in 0u16..0x210, code in 0u16..0x400) {
        let selected: Result<Selector, _> = format!("arm_cmn_0/type={type_},eventid={code}/").parse();
        let kind = NodeKind::with_number(type_).filter(|kind| *kind != NodeKind::Dtc);
        if let Some(kind) = kind {
            let target = selected.ok().map(|selector| selector.target);
            let expected = event_of(kind, code).map(|event| Target::Event { event, occupid: 0 });
            prop_assert_eq!(target, expected);
        }
    }
}
