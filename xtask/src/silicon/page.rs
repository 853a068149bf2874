//! The text of `docs/silicon.md`.

use sim_machine::Machine;

use super::replay::Compared;
use super::rows::{MACHINES, Row};
use super::tables;

const HEAD: &str = "# Two real machines beside the model

Written by `cargo xtask silicon`. The page compares public measurements of Neoverse N2 cores in two clouds with the model's
results for the same work: `--profile silicon` with `--machine cobalt-100` and `--machine yitian-710`.

The figures are SpareCores' (CC BY-SA 4.0, [data](https://github.com/SpareCores/sc-inspector-data): `data/azure/Standard_D2ps_v6` and
`data/alicloud/ecs.c8y.large`), one run on a virtual machine of two cores each: assume 2 % noise. `xtask/silicon/*.tsv` has them
with their sources. The programs are:

* **openssl**: calls of Debian's libcrypto (3.5) as in `openssl speed -evp`, warm. The kernels are the measured ones. The code
  around them is of another version, which affects blocks of 16 and 64 bytes.
* **membench**: loops with the accesses of sc-membench, compiled with its options. A node of the chase has 16 bytes, and the sum
  of all nodes goes through memory. So a step takes at least a store, its forwarding and an addition: these are the 6.0 cycles
  at 32 KiB.
* **bw_mem**: loops with the accesses of lmbench; Debian's binary has the same instructions.
* **barrier**: a store, a full barrier, a load.

An error is the time of the model minus that of silicon, as a share of silicon's time. Rows with a ° are those whose name has a
64-bit FNV-1a hash that is divisible by three (`openssl.tsv/sha256/16` and so on). No value of the core was chosen with them. Some
values were chosen with all rows of membench and bw_mem in view, so a ° there means less: how streams continue at the end of a
page and how far ahead they run, how the L2 and the system level cache choose victims, how fast lines leave a core, and how long
home nodes take.

Recordings stay in `target/silicon` (`--keep` names another directory), and rows can be tried with other values:
`cargo xtask silicon --only latency --set memory.walker.walks=4`.
";

const NOT_REACHED: &str = "
## Rows that a replay cannot repeat

";

const NOT_EXPLAINED: &str = "
## Unexplained differences

These rows differ by more than 15 %. The known facts are:

* **Chases from 32 to 256 MiB** take nearly as long as one of 512 MiB on both machines, although the system level cache would hold
  all or much of their data, and streams of that size run at its rate. The two cores share that cache with 126 others, which other
  tenants use. A stream returns to a line after some milliseconds, a random chase of 32 MiB after 60, and by then other cores have
  evicted it. A replay does not know the other cores. (A walk of two stages of translation, which the model lacks, would lengthen
  the longest chase too, which fits without it.)
* **Chases in the L2** take some 20 cycles per miss of the L1, where a chase through whole lines takes 13. The replacement of the
  L1 is not the cause: four nodes share a line, so a random cycle of twice the L1's size hits 40 % of its accesses under any
  LRU-like policy and 50 % under random victims, and none hits much less. A region prefetcher that keeps the L2 busy, or a
  mispredicted hit, could be the cause; neither is published for this core.
* **Stores of parts of lines into memory** are too slow on Cobalt 100: silicon has 20 of their lines in flight, the model 14.
* **Copies of 512 KiB** touch 1 MiB, the size of the L2, and are too fast: silicon seems to lose more of the L2 than the one
  way of eight that holds prefetcher records in the model.
* **Loads and stores of the same 256 KiB or 1 MiB** are 17 to 23 % too fast. In the model, a dirty line that leaves the L1 takes
  no time of the L2's ports. If it did, stores alone, which are right, would be too slow.
* **Streams of 64 and 128 MiB** on Cobalt 100 find their lines in the system level cache in the model, but only in part on
  silicon.
* **Latencies and rates of the system level cache** are those of two cores among 128; the load of the other cores is not known.

";

/// The whole page.
pub(super) fn page(rows: &[Row], compared: &[Compared<'_>]) -> String {
    let mut text = HEAD.to_owned();
    for machine in MACHINES {
        let own: Vec<&Compared<'_>> =
            compared.iter().filter(|compared| compared.row.machine == machine).collect();
        text += &format!("\n## Summary: {}\n\n{}", title(machine), tables::summary(&own));
    }
    text += "\n![Time in the model over time on silicon](figures/silicon.svg)\n\n## Every row\n";
    for (file, title) in [
        ("openssl.tsv", "openssl: algorithm and bytes of a block, rate of one process"),
        ("membench.tsv", "membench: operation and KiB of a thread, rate of one thread"),
        ("bw_mem.tsv", "bw_mem: operation and MB of a process, rate of one process"),
        ("barrier.tsv", "barrier"),
    ] {
        text += &format!("\n### {title}\n\n{}", tables::rows(file, rows, compared));
    }
    text += NOT_REACHED;
    text += &tables::out_of_reach(rows);
    text += NOT_EXPLAINED;
    text += &tables::far(compared);
    text
}

fn title(machine: Machine) -> &'static str {
    match machine {
        Machine::Cobalt100 => "Azure Cobalt 100",
        Machine::Yitian710 => "Alibaba Yitian 710",
        Machine::Generic => "generic",
    }
}
