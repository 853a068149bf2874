//! x
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let doc =
        sim_core::config::Document::from_embedded("cortex-a53.toml", &sim_a53::cluster::EMBEDDED)
            .expect("doc");
    let config = sim_a53::A53Config::from_document(&doc).unwrap_or_else(|e| panic!("{e}"));
    for t in &a[1..] {
        let trace = sim_trace::TraceFile::open(std::path::Path::new(t)).expect("trace");
        let s = std::time::Instant::now();
        match sim_a53::run(&trace, &config, None) {
            Err(e) => println!("{t}: {e}"),
            Ok(cores) => {
                let e = s.elapsed().as_secs_f64();
                for c in &cores {
                    println!(
                        "{t} insts {} cycles {} ipc {:.3} pairs {:.3} tiled {} foreign {} {:.1} MIPS",
                        c.instructions,
                        c.cycles,
                        c.instructions as f64 / c.cycles as f64,
                        c.two_retired as f64 / c.cycles as f64,
                        c.slots.total() == 2 * c.cycles,
                        c.foreign,
                        c.instructions as f64 / e / 1e6
                    );
                    if std::env::var("V").is_ok() {
                        for x in sim_a53::slots::LostTo::ALL {
                            println!(
                                "   {:5.1} % {}",
                                100.0 * c.slots.lost(x) as f64 / c.slots.total() as f64,
                                x.title()
                            );
                        }
                        for ev in sim_a53::A53Event::ALL {
                            if c.counts.value(ev) > 0 {
                                println!("   {:>14} {}", c.counts.value(ev), ev.mnemonic());
                            }
                        }
                    }
                }
            }
        }
    }
}
