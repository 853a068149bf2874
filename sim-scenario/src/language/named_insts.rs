//! A64 instructions that steps call by name, one row each.
//!
//! Registers are fixed, so that steps do not depend on one another: addresses are in X1, data come
//! from X2, X3 and V2, V3, results go to X0 and V0. Only `CBZ X0` and `CBNZ X0` wait for results.
//! Indirect branches use X4; direct branches skip one instruction. The words were assembled with
//! binutils 2.40.

use super::operand::{NamedInst, Operand};
use super::pmu_registers::PMU_INSTS;
use super::profiling::SPE_INSTS;
use super::vector_insts::VECTOR_INSTS;

/// Every named instruction.
#[rustfmt::skip]
pub const NAMED_INSTS: &[NamedInst] = &[
    NamedInst { name: "LD1", word: 0x3940_0020, operand: Operand::Address }, // ldrb w0, [x1]
    NamedInst { name: "LD2", word: 0x7940_0020, operand: Operand::Address }, // ldrh w0, [x1]
    NamedInst { name: "LD4", word: 0xB940_0020, operand: Operand::Address }, // ldr w0, [x1]
    NamedInst { name: "LD8", word: 0xF940_0020, operand: Operand::Address }, // ldr x0, [x1]
    NamedInst { name: "LD16", word: 0x3DC0_0020, operand: Operand::Address }, // ldr q0, [x1]
    NamedInst { name: "LD32", word: 0xAD40_0820, operand: Operand::Address }, // ldp q0, q2, [x1]
    NamedInst { name: "LD64", word: 0x4C40_2020, operand: Operand::Address }, // ld1 {v0.16b-v3.16b}, [x1]
    NamedInst { name: "LDP8", word: 0x2940_0820, operand: Operand::Address }, // ldp w0, w2, [x1]
    NamedInst { name: "LDP16", word: 0xA940_0820, operand: Operand::Address }, // ldp x0, x2, [x1]
    NamedInst { name: "VLD1", word: 0x3D40_0020, operand: Operand::Address }, // ldr b0, [x1]
    NamedInst { name: "VLD2", word: 0x7D40_0020, operand: Operand::Address }, // ldr h0, [x1]
    NamedInst { name: "VLD4", word: 0xBD40_0020, operand: Operand::Address }, // ldr s0, [x1]
    NamedInst { name: "VLD8", word: 0xFD40_0020, operand: Operand::Address }, // ldr d0, [x1]
    NamedInst { name: "ST1", word: 0x3900_0022, operand: Operand::Address }, // strb w2, [x1]
    NamedInst { name: "ST2", word: 0x7900_0022, operand: Operand::Address }, // strh w2, [x1]
    NamedInst { name: "ST4", word: 0xB900_0022, operand: Operand::Address }, // str w2, [x1]
    NamedInst { name: "ST8", word: 0xF900_0022, operand: Operand::Address }, // str x2, [x1]
    NamedInst { name: "ST16", word: 0x3D80_0022, operand: Operand::Address }, // str q2, [x1]
    NamedInst { name: "ST32", word: 0xAD00_0C22, operand: Operand::Address }, // stp q2, q3, [x1]
    NamedInst { name: "ST64", word: 0x4C00_2020, operand: Operand::Address }, // st1 {v0.16b-v3.16b}, [x1]
    NamedInst { name: "STP8", word: 0x2900_0C22, operand: Operand::Address }, // stp w2, w3, [x1]
    NamedInst { name: "STP16", word: 0xA900_0C22, operand: Operand::Address }, // stp x2, x3, [x1]
    NamedInst { name: "VST1", word: 0x3D00_0022, operand: Operand::Address }, // str b2, [x1]
    NamedInst { name: "VST2", word: 0x7D00_0022, operand: Operand::Address }, // str h2, [x1]
    NamedInst { name: "VST4", word: 0xBD00_0022, operand: Operand::Address }, // str s2, [x1]
    NamedInst { name: "VST8", word: 0xFD00_0022, operand: Operand::Address }, // str d2, [x1]
    NamedInst { name: "LDX1", word: 0x085F_7C20, operand: Operand::Address }, // ldxrb w0, [x1]
    NamedInst { name: "LDX2", word: 0x485F_7C20, operand: Operand::Address }, // ldxrh w0, [x1]
    NamedInst { name: "LDX4", word: 0x885F_7C20, operand: Operand::Address }, // ldxr w0, [x1]
    NamedInst { name: "LDX8", word: 0xC85F_7C20, operand: Operand::Address }, // ldxr x0, [x1]
    NamedInst { name: "STX1", word: 0x0803_7C22, operand: Operand::Exclusive }, // stxrb w3, w2, [x1]
    NamedInst { name: "STX2", word: 0x4803_7C22, operand: Operand::Exclusive }, // stxrh w3, w2, [x1]
    NamedInst { name: "STX4", word: 0x8803_7C22, operand: Operand::Exclusive }, // stxr w3, w2, [x1]
    NamedInst { name: "STX8", word: 0xC803_7C22, operand: Operand::Exclusive }, // stxr w3, x2, [x1]
    NamedInst { name: "LDA1", word: 0x08DF_FC20, operand: Operand::Address }, // ldarb w0, [x1]
    NamedInst { name: "LDA2", word: 0x48DF_FC20, operand: Operand::Address }, // ldarh w0, [x1]
    NamedInst { name: "LDA4", word: 0x88DF_FC20, operand: Operand::Address }, // ldar w0, [x1]
    NamedInst { name: "LDA8", word: 0xC8DF_FC20, operand: Operand::Address }, // ldar x0, [x1]
    NamedInst { name: "STL1", word: 0x089F_FC22, operand: Operand::Address }, // stlrb w2, [x1]
    NamedInst { name: "STL2", word: 0x489F_FC22, operand: Operand::Address }, // stlrh w2, [x1]
    NamedInst { name: "STL4", word: 0x889F_FC22, operand: Operand::Address }, // stlr w2, [x1]
    NamedInst { name: "STL8", word: 0xC89F_FC22, operand: Operand::Address }, // stlr x2, [x1]
    NamedInst { name: "LDAPR4", word: 0xB8BF_C020, operand: Operand::Address }, // ldapr w0, [x1]
    NamedInst { name: "LDAPR8", word: 0xF8BF_C020, operand: Operand::Address }, // ldapr x0, [x1]
    NamedInst { name: "LDADD4", word: 0xB822_0020, operand: Operand::Address }, // ldadd w2, w0, [x1]
    NamedInst { name: "LDADD8", word: 0xF822_0020, operand: Operand::Address }, // ldadd x2, x0, [x1]
    NamedInst { name: "STADD4", word: 0xB822_003F, operand: Operand::Address }, // stadd w2, [x1]
    NamedInst { name: "STADD8", word: 0xF822_003F, operand: Operand::Address }, // stadd x2, [x1]
    NamedInst { name: "SWP4", word: 0xB822_8020, operand: Operand::Address }, // swp w2, w0, [x1]
    NamedInst { name: "SWP8", word: 0xF822_8020, operand: Operand::Address }, // swp x2, x0, [x1]
    NamedInst { name: "CAS4", word: 0x88A2_7C20, operand: Operand::Address }, // cas w2, w0, [x1]
    NamedInst { name: "CAS8", word: 0xC8A2_7C20, operand: Operand::Address }, // cas x2, x0, [x1]
    NamedInst { name: "PLD", word: 0xF980_0020, operand: Operand::Address }, // prfm pldl1keep, [x1]
    NamedInst { name: "PST", word: 0xF980_0030, operand: Operand::Address }, // prfm pstl1keep, [x1]
    NamedInst { name: "PLI", word: 0xF980_0028, operand: Operand::Address }, // prfm plil1keep, [x1]
    NamedInst { name: "DC ZVA", word: 0xD50B_7421, operand: Operand::Address }, // dc zva, x1
    NamedInst { name: "DC CVAC", word: 0xD50B_7A21, operand: Operand::Address }, // dc cvac, x1
    NamedInst { name: "DC CIVAC", word: 0xD50B_7E21, operand: Operand::Address }, // dc civac, x1
    NamedInst { name: "DC IVAC", word: 0xD508_7621, operand: Operand::Address }, // dc ivac, x1
    NamedInst { name: "IC IVAU", word: 0xD50B_7521, operand: Operand::Address }, // ic ivau, x1
    NamedInst { name: "DC CVAU", word: 0xD50B_7B21, operand: Operand::Address }, // dc cvau, x1
    NamedInst { name: "DC CVAP", word: 0xD50B_7C21, operand: Operand::Address }, // dc cvap, x1
    NamedInst { name: "DC ISW", word: 0xD508_7641, operand: Operand::SetAndWay }, // dc isw, x1
    NamedInst { name: "DC CSW", word: 0xD508_7A41, operand: Operand::SetAndWay }, // dc csw, x1
    NamedInst { name: "DC CISW", word: 0xD508_7E41, operand: Operand::SetAndWay }, // dc cisw, x1
    NamedInst { name: "IC IALLU", word: 0xD508_751F, operand: Operand::Nothing }, // ic iallu
    NamedInst { name: "IC IALLUIS", word: 0xD508_711F, operand: Operand::Nothing }, // ic ialluis
    NamedInst { name: "AT S1E0R", word: 0xD508_7841, operand: Operand::Address }, // at s1e0r, x1
    NamedInst { name: "AT S1E0W", word: 0xD508_7861, operand: Operand::Address }, // at s1e0w, x1
    NamedInst { name: "AT S1E1R", word: 0xD508_7801, operand: Operand::Address }, // at s1e1r, x1
    NamedInst { name: "AT S1E1W", word: 0xD508_7821, operand: Operand::Address }, // at s1e1w, x1
    NamedInst { name: "AT S12E1R", word: 0xD50C_7881, operand: Operand::Address }, // at s12e1r, x1
    NamedInst { name: "AT S12E1W", word: 0xD50C_78A1, operand: Operand::Address }, // at s12e1w, x1
    NamedInst { name: "TLBI VMALLE1", word: 0xD508_871F, operand: Operand::Nothing }, // tlbi vmalle1
    NamedInst { name: "TLBI VMALLE1IS", word: 0xD508_831F, operand: Operand::Nothing }, // tlbi vmalle1is
    NamedInst { name: "TLBI VAE1", word: 0xD508_8721, operand: Operand::Page }, // tlbi vae1, x1
    NamedInst { name: "TLBI VAE1IS", word: 0xD508_8321, operand: Operand::Page }, // tlbi vae1is, x1
    NamedInst { name: "TLBI ASIDE1", word: 0xD508_8741, operand: Operand::Asid }, // tlbi aside1, x1
    NamedInst { name: "TLBI ASIDE1IS", word: 0xD508_8341, operand: Operand::Asid }, // tlbi aside1is, x1
    NamedInst { name: "TLBI VAAE1", word: 0xD508_8761, operand: Operand::Page }, // tlbi vaae1, x1
    NamedInst { name: "TLBI VAAE1IS", word: 0xD508_8361, operand: Operand::Page }, // tlbi vaae1is, x1
    NamedInst { name: "TLBI VALE1", word: 0xD508_87A1, operand: Operand::Page }, // tlbi vale1, x1
    NamedInst { name: "TLBI VALE1IS", word: 0xD508_83A1, operand: Operand::Page }, // tlbi vale1is, x1
    NamedInst { name: "TLBI VAALE1", word: 0xD508_87E1, operand: Operand::Page }, // tlbi vaale1, x1
    NamedInst { name: "TLBI VAALE1IS", word: 0xD508_83E1, operand: Operand::Page }, // tlbi vaale1is, x1
    NamedInst { name: "TLBI ALLE1", word: 0xD50C_879F, operand: Operand::Nothing }, // tlbi alle1
    NamedInst { name: "TLBI ALLE1IS", word: 0xD50C_839F, operand: Operand::Nothing }, // tlbi alle1is
    NamedInst { name: "TLBI VMALLS12E1", word: 0xD50C_87DF, operand: Operand::Nothing }, // tlbi vmalls12e1
    NamedInst { name: "TLBI VMALLS12E1IS", word: 0xD50C_83DF, operand: Operand::Nothing }, // tlbi vmalls12e1is
    NamedInst { name: "TLBI IPAS2E1", word: 0xD50C_8421, operand: Operand::Page }, // tlbi ipas2e1, x1
    NamedInst { name: "TLBI IPAS2E1IS", word: 0xD50C_8021, operand: Operand::Page }, // tlbi ipas2e1is, x1
    NamedInst { name: "MSR TTBR0_EL1", word: 0xD518_2001, operand: Operand::Value }, // msr ttbr0_el1, x1
    NamedInst { name: "MSR TTBR1_EL1", word: 0xD518_2021, operand: Operand::Value }, // msr ttbr1_el1, x1
    NamedInst { name: "MSR TTBR0_EL12", word: 0xD51D_2001, operand: Operand::Value }, // msr ttbr0_el12, x1
    NamedInst { name: "MSR TTBR1_EL12", word: 0xD51D_2021, operand: Operand::Value }, // msr ttbr1_el12, x1
    NamedInst { name: "MSR TTBR0_EL2", word: 0xD51C_2001, operand: Operand::Value }, // msr ttbr0_el2, x1
    NamedInst { name: "MSR TTBR1_EL2", word: 0xD51C_2021, operand: Operand::Value }, // msr ttbr1_el2, x1
    NamedInst { name: "MSR VTTBR_EL2", word: 0xD51C_2101, operand: Operand::Value }, // msr vttbr_el2, x1
    NamedInst { name: "MSR CONTEXTIDR_EL1", word: 0xD518_D021, operand: Operand::Value }, // msr contextidr_el1, x1
    NamedInst { name: "MSR CONTEXTIDR_EL12", word: 0xD51D_D021, operand: Operand::Value }, // msr contextidr_el12, x1
    NamedInst { name: "MSR CONTEXTIDR_EL2", word: 0xD51C_D021, operand: Operand::Value }, // msr contextidr_el2, x1
    NamedInst { name: "MSR PMSWINC_EL0", word: 0xD51B_9C81, operand: Operand::Value }, // msr pmswinc_el0, x1
    NamedInst { name: "MRS TTBR0_EL1", word: 0xD538_2000, operand: Operand::Nothing }, // mrs x0, ttbr0_el1
    NamedInst { name: "MRS TTBR1_EL1", word: 0xD538_2020, operand: Operand::Nothing }, // mrs x0, ttbr1_el1
    NamedInst { name: "MRS CONTEXTIDR_EL1", word: 0xD538_D020, operand: Operand::Nothing }, // mrs x0, contextidr_el1
    NamedInst { name: "DSB", word: 0xD503_3F9F, operand: Operand::Nothing }, // dsb sy
    NamedInst { name: "DMB", word: 0xD503_3BBF, operand: Operand::Nothing }, // dmb ish
    NamedInst { name: "ISB", word: 0xD503_3FDF, operand: Operand::Nothing }, // isb
    NamedInst { name: "ESB", word: 0xD503_221F, operand: Operand::Nothing }, // esb
    NamedInst { name: "SSBB", word: 0xD503_309F, operand: Operand::Nothing }, // ssbb
    NamedInst { name: "WFE", word: 0xD503_205F, operand: Operand::Sleep }, // wfe
    NamedInst { name: "WFI", word: 0xD503_207F, operand: Operand::Sleep }, // wfi
    NamedInst { name: "CLREX", word: 0xD503_3F5F, operand: Operand::Nothing }, // clrex
    NamedInst { name: "NOP", word: 0xD503_201F, operand: Operand::Nothing }, // nop
    NamedInst { name: "ADD", word: 0x8B03_0040, operand: Operand::Nothing }, // add x0, x2, x3
    NamedInst { name: "ADDS", word: 0xAB03_0040, operand: Operand::Nothing }, // adds x0, x2, x3
    NamedInst { name: "SUB", word: 0xCB03_0040, operand: Operand::Nothing }, // sub x0, x2, x3
    NamedInst { name: "AND", word: 0x8A03_0040, operand: Operand::Nothing }, // and x0, x2, x3
    NamedInst { name: "ORR", word: 0xAA03_0040, operand: Operand::Nothing }, // orr x0, x2, x3
    NamedInst { name: "EOR", word: 0xCA03_0040, operand: Operand::Nothing }, // eor x0, x2, x3
    NamedInst { name: "MOV", word: 0xAA02_03E0, operand: Operand::Nothing }, // mov x0, x2
    NamedInst { name: "MVN", word: 0xAA22_03E0, operand: Operand::Nothing }, // mvn x0, x2
    NamedInst { name: "MOVZ", word: 0xD280_0020, operand: Operand::Nothing }, // movz x0, #1
    NamedInst { name: "MUL", word: 0x9B03_7C40, operand: Operand::Nothing }, // mul x0, x2, x3
    NamedInst { name: "UDIV", word: 0x9AC3_0840, operand: Operand::Nothing }, // udiv x0, x2, x3
    NamedInst { name: "FADD H", word: 0x1EE3_2840, operand: Operand::Nothing }, // fadd h0, h2, h3
    NamedInst { name: "FADD S", word: 0x1E23_2840, operand: Operand::Nothing }, // fadd s0, s2, s3
    NamedInst { name: "FADD D", word: 0x1E63_2840, operand: Operand::Nothing }, // fadd d0, d2, d3
    NamedInst { name: "FADD V.8H", word: 0x4E43_1440, operand: Operand::Nothing }, // fadd v0.8h, v2.8h, v3.8h
    NamedInst { name: "FADD V.4S", word: 0x4E23_D440, operand: Operand::Nothing }, // fadd v0.4s, v2.4s, v3.4s
    NamedInst { name: "FADD V.2D", word: 0x4E63_D440, operand: Operand::Nothing }, // fadd v0.2d, v2.2d, v3.2d
    NamedInst { name: "FADD Z.H", word: 0x6543_0040, operand: Operand::Nothing }, // fadd z0.h, z2.h, z3.h
    NamedInst { name: "FADD Z.S", word: 0x6583_0040, operand: Operand::Nothing }, // fadd z0.s, z2.s, z3.s
    NamedInst { name: "FADD Z.D", word: 0x65C3_0040, operand: Operand::Nothing }, // fadd z0.d, z2.d, z3.d
    NamedInst { name: "FMUL S", word: 0x1E23_0840, operand: Operand::Nothing }, // fmul s0, s2, s3
    NamedInst { name: "FMUL D", word: 0x1E63_0840, operand: Operand::Nothing }, // fmul d0, d2, d3
    NamedInst { name: "FMADD D", word: 0x1F43_1040, operand: Operand::Nothing }, // fmadd d0, d2, d3, d4
    NamedInst { name: "FMLA V.4S", word: 0x4E23_CC40, operand: Operand::Nothing }, // fmla v0.4s, v2.4s, v3.4s
    NamedInst { name: "FCVT S H", word: 0x1EE2_4040, operand: Operand::Nothing }, // fcvt s0, h2
    NamedInst { name: "FCVT D S", word: 0x1E22_C040, operand: Operand::Nothing }, // fcvt d0, s2
    NamedInst { name: "FMOV X D", word: 0x9E66_0040, operand: Operand::Nothing }, // fmov x0, d2
    NamedInst { name: "FMOV S W", word: 0x1E27_0040, operand: Operand::Nothing }, // fmov s0, w2
    NamedInst { name: "UMOV", word: 0x0E01_3C40, operand: Operand::Nothing }, // umov w0, v2.b[0]
    NamedInst { name: "INS", word: 0x4E04_1C40, operand: Operand::Nothing }, // ins v0.s[0], w2
    NamedInst { name: "ADD V.16B", word: 0x4E23_8440, operand: Operand::Nothing }, // add v0.16b, v2.16b, v3.16b
    NamedInst { name: "ADD V.8H", word: 0x4E63_8440, operand: Operand::Nothing }, // add v0.8h, v2.8h, v3.8h
    NamedInst { name: "ADD V.4S", word: 0x4EA3_8440, operand: Operand::Nothing }, // add v0.4s, v2.4s, v3.4s
    NamedInst { name: "ADD V.2D", word: 0x4EE3_8440, operand: Operand::Nothing }, // add v0.2d, v2.2d, v3.2d
    NamedInst { name: "UADDL V.8H", word: 0x2E23_0040, operand: Operand::Nothing }, // uaddl v0.8h, v2.8b, v3.8b
    NamedInst { name: "ADD Z.B", word: 0x0423_0040, operand: Operand::Nothing }, // add z0.b, z2.b, z3.b
    NamedInst { name: "ADD Z.H", word: 0x0463_0040, operand: Operand::Nothing }, // add z0.h, z2.h, z3.h
    NamedInst { name: "ADD Z.S", word: 0x04A3_0040, operand: Operand::Nothing }, // add z0.s, z2.s, z3.s
    NamedInst { name: "ADD Z.D", word: 0x04E3_0040, operand: Operand::Nothing }, // add z0.d, z2.d, z3.d
    NamedInst { name: "AESE", word: 0x4E28_4840, operand: Operand::Nothing }, // aese v0.16b, v2.16b
    NamedInst { name: "SHA1H", word: 0x5E28_0840, operand: Operand::Nothing }, // sha1h s0, s2
    NamedInst { name: "PMULL", word: 0x0EE3_E040, operand: Operand::Nothing }, // pmull v0.1q, v2.1d, v3.1d
    NamedInst { name: "PMULL V.8H", word: 0x0E23_E040, operand: Operand::Nothing }, // pmull v0.8h, v2.8b, v3.8b
    NamedInst { name: "B", word: 0x1400_0002, operand: Operand::Taken }, // b .+8
    NamedInst { name: "BL", word: 0x9400_0002, operand: Operand::Taken }, // bl .+8
    NamedInst { name: "B.EQ", word: 0x5400_0040, operand: Operand::Conditional }, // b.eq .+8
    NamedInst { name: "B.NE", word: 0x5400_0041, operand: Operand::Conditional }, // b.ne .+8
    NamedInst { name: "CBZ", word: 0xB400_0042, operand: Operand::Conditional }, // cbz x2, .+8
    NamedInst { name: "CBZ X0", word: 0xB400_0040, operand: Operand::Conditional }, // cbz x0, .+8
    NamedInst { name: "CBNZ X0", word: 0xB500_0040, operand: Operand::Conditional }, // cbnz x0, .+8
    NamedInst { name: "CBNZ", word: 0xB500_0042, operand: Operand::Conditional }, // cbnz x2, .+8
    NamedInst { name: "TBZ", word: 0x3600_0042, operand: Operand::Conditional }, // tbz w2, #0, .+8
    NamedInst { name: "TBNZ", word: 0x3700_0042, operand: Operand::Conditional }, // tbnz w2, #0, .+8
    NamedInst { name: "BR", word: 0xD61F_0080, operand: Operand::Taken }, // br x4
    NamedInst { name: "BR X30", word: 0xD61F_03C0, operand: Operand::Taken }, // br x30
    NamedInst { name: "BLR", word: 0xD63F_0080, operand: Operand::Taken }, // blr x4
    NamedInst { name: "RET", word: 0xD65F_03C0, operand: Operand::Taken }, // ret
    NamedInst { name: "SVC", word: 0xD400_0001, operand: Operand::Nothing }, // svc #0
    NamedInst { name: "HVC", word: 0xD400_0002, operand: Operand::Nothing }, // hvc #0
    NamedInst { name: "SMC", word: 0xD400_0003, operand: Operand::Nothing }, // smc #0
    NamedInst { name: "ERET", word: 0xD69F_03E0, operand: Operand::Nothing }, // eret
    NamedInst { name: "BRK", word: 0xD420_0000, operand: Operand::Nothing }, // brk #0
    NamedInst { name: "UDF", word: 0x0000_0000, operand: Operand::Nothing }, // udf #0
];

/// Returns the instruction called `name`.
pub fn find(name: &str) -> Option<&'static NamedInst> {
    all().find(|inst| inst.name == name)
}

/// Returns the named instructions of all lists.
pub fn all() -> impl Iterator<Item = &'static NamedInst> {
    NAMED_INSTS.iter().chain(&VECTOR_INSTS).chain(&PMU_INSTS).chain(&SPE_INSTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words_are_unique() {
        for (i, a) in all().enumerate() {
            for b in all().skip(i + 1) {
                assert_ne!(a.name, b.name);
                assert_ne!(a.word, b.word, "{} and {}", a.name, b.name);
            }
        }
    }
}
