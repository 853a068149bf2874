//! Settled differences, each with its reason. The Arm ARM's description of the instruction decided
//! all of them, with LLVM 19 as a third opinion where the two decoders disagree.

use super::compare::Difference;

/// A settled kind of difference.
struct Rule {
    /// Mnemonics that it holds for, separated by blanks.
    mnemonics: &'static str,
    /// Effects that only `sim-isa` sees. Each part of the difference must be among them.
    ours: &'static [&'static str],
    /// Effects that only `fARM64` sees, likewise.
    theirs: &'static [&'static str],
    reason: &'static str,
}

/// Extensions of the core, as `fARM64` names them. `Sve` means SVE and SVE2.
const CORE_FEATURES: [&str; 11] =
    ["Base", "Fp16", "Bf16", "Lse", "PAuth", "Mte", "Sve", "Crypto", "Trf", "Frintts", "I8mm"];

const RULES: &[Rule] = &[
    Rule {
        mnemonics: "addhn2 addhnt raddhn2 raddhnt subhn2 subhnt rsubhn2 rsubhnt xtn2 sqxtn2 sqxtnt \
                    sqxtun2 sqxtunt uqxtn2 uqxtnt shrn2 shrnt rshrn2 rshrnt sqshrn2 sqshrnt \
                    sqshrun2 sqshrunt sqrshrn2 sqrshrnt sqrshrun2 sqrshrunt uqshrn2 uqshrnt \
                    uqrshrn2 uqrshrnt fcvtn2 fcvtxn2 bfcvtn2",
        ours: &["reads destination"],
        theirs: &[],
        reason: "a narrowing to the upper half or to the top elements keeps the other half",
    },
    Rule {
        mnemonics: "saba uaba sabal uabal sabal2 uabal2 sabalb sabalt uabalb uabalt sadalp uadalp \
                    ssra usra srsra ursra cdot smlalb smlalt umlalb umlalt smlslb smlslt umlslb \
                    umlslt sqdmlalb sqdmlalt sqdmlslb sqdmlslt sqdmlalbt sqdmlslbt bfmlalb bfmlalt \
                    adclb adclt sbclb sbclt suqadd usqadd",
        ours: &["reads destination"],
        theirs: &[],
        reason: "an accumulating operation reads its accumulator",
    },
    Rule {
        mnemonics: "aesd aese sha1c sha1m sha1p sha1su0 sha1su1 sha256h sha256h2 sha256su0 \
                    sha256su1 sha512h sha512h2 sha512su0 sha512su1 sm3partw1 sm3partw2 sm3tt1a \
                    sm3tt1b sm3tt2a sm3tt2b sm4e",
        ours: &["reads destination"],
        theirs: &[],
        reason: "a cipher round or hash step works on the state in its destination",
    },
    Rule {
        mnemonics: "bfc bic orr bif bit bsl eorbt eortb fmov insr mov tbx ldg",
        ours: &["reads destination"],
        theirs: &[],
        reason: "an insertion keeps the bits or elements that it does not write",
    },
    Rule {
        mnemonics: "incb inch incw incd incp decb dech decw decd decp sqincb sqinch sqincw sqincd \
                    sqincp sqdecb sqdech sqdecw sqdecd sqdecp uqincb uqinch uqincw uqincd uqincp \
                    uqdecb uqdech uqdecw uqdecd uqdecp",
        ours: &["reads destination"],
        theirs: &[],
        reason: "an increment reads what it increments",
    },
    Rule {
        mnemonics: "ld1 ld2 ld3 ld4",
        ours: &["reads address", "reads destination"],
        theirs: &["writes address"],
        reason: "a load of one lane keeps the others; the post-index register is read, not written",
    },
    Rule {
        mnemonics: "ld1r ld2r ld3r ld4r st1 st2 st3 st4",
        ours: &["reads address"],
        theirs: &["writes address"],
        reason: "a load of one lane keeps the others; the post-index register is read, not written",
    },
    Rule {
        mnemonics: "brkas brkbs brkns brkpas brkpbs cmpeq cmpge cmpgt cmphi cmphs cmple cmplo \
                    cmpls cmplt cmpne eors ands bics match nmatch movs nands nors nots orns orrs \
                    pfirst pnext ptrues subps whilege whilegt whilehi whilehs whilele whilelo \
                    whilels whilelt whilerw whilewr rdffrs fjcvtzs",
        ours: &["writes flags"],
        theirs: &[],
        reason: "the instruction sets NZCV",
    },
    Rule {
        mnemonics: "ctermeq ctermne ptest",
        ours: &["reads flags", "reads source", "writes flags"],
        theirs: &["writes source"],
        reason: "a compare reads both operands and writes flags; CTERM keeps C and Z",
    },
    Rule {
        mnemonics: "ldnf1b ldnf1h ldnf1w ldnf1d ldnf1sb ldnf1sh ldnf1sw",
        ours: &["writes ffr"],
        theirs: &[],
        reason: "a no-fault load may clear elements of FFR",
    },
    Rule { mnemonics: "ldr ldrsw", ours: &["loads"], theirs: &[], reason: "a literal load loads" },
    Rule {
        mnemonics: "prfm prfum rprfm prfb prfh prfw prfd",
        ours: &[],
        theirs: &["loads", "reads other", "reads sp", "writes other"],
        reason: "a prefetch is not a load; prefetches without a meaning read nothing",
    },
    Rule {
        mnemonics: "dc",
        ours: &["stores"],
        theirs: &[],
        reason: "DC ZVA and similar operations store",
    },
    Rule {
        mnemonics: "tlbi",
        ours: &["reads source"],
        theirs: &[],
        reason: "a TLBI without address may still name a register",
    },
    Rule {
        mnemonics: "adr",
        ours: &[],
        theirs: &["loads"],
        reason: "an address computation of vectors touches no memory",
    },
    Rule {
        mnemonics: "stgm stzgm",
        ours: &["reads source", "stores"],
        theirs: &["loads", "writes source", "writes address"],
        reason: "a store of tags stores",
    },
    Rule {
        mnemonics: "ext bfcvtn",
        ours: &[],
        theirs: &["reads destination", "reads other"],
        reason: "the destination is only written, the second source is the next register",
    },
];

/// Returns the reason of a difference, if it is settled.
pub(super) fn explain(difference: &Difference) -> Option<&'static str> {
    if !CORE_FEATURES.contains(&difference.feature.as_str()) {
        return Some("the core lacks the extension");
    }
    match difference.is_unknown {
        true => explain_unknown(difference),
        false => RULES.iter().find(|rule| rule.covers(difference)).map(|rule| rule.reason),
    }
}

/// Mnemonics of words that the core does not know although `fARM64` assigns them to an extension of
/// the core, each with the reason.
const UNKNOWN: [(&str, &str); 5] = [
    ("mrs msr", "op0 of 0 and 1 names no register"),
    (
        "fcvtxn fmaxnmv fmaxv fminnmv fminv hint urecpe",
        "a combination of size and vector length, or a hint space, that is unallocated",
    ),
    ("addg subg", "bits 15 and 14 must be zero"),
    (
        "bfadd bfclamp bfmax bfmaxnm bfmin bfminnm bfmla bfmls bfmlslb bfmlslt bfmul bfsub",
        "non-widening BF16 arithmetic came after the core",
    ),
    (
        "abs cls clz cnot cnt compact fabs fneg ld1rob ld1roh ld1row ld1rod movprfx neg not rbit \
         revb revd revh revw sabal sclamp sdot sxtb sxth sxtw trn1 trn2 uabal uclamp udot uxtb \
         uxth uxtw uzp1 uzp2 zip1 zip2 fmmla",
        "zeroing, clamping, two-way and 128-bit forms belong to SVE2.1, SVE2.2 or F64MM",
    ),
];

fn explain_unknown(difference: &Difference) -> Option<&'static str> {
    let names = |list: &str| list.split_whitespace().any(|name| name == difference.mnemonic);
    UNKNOWN.iter().find(|(list, _)| names(list)).map(|(_, reason)| *reason)
}

impl Rule {
    fn covers(&self, difference: &Difference) -> bool {
        self.mnemonics.split_whitespace().any(|name| name == difference.mnemonic)
            && difference.only_ours.iter().all(|part| self.ours.contains(&part.as_str()))
            && difference.only_theirs.iter().all(|part| self.theirs.contains(&part.as_str()))
    }
}
