//! The words that the plugin writes only for a whole system, besides blocks and accesses.

use super::super::block::BlockInfo;
use super::super::recording_state::Shared;
use super::super::wire::Word;
use super::ending::{Arrival, Processor, is_context_only};
use super::pages::PageUse;

impl Shared {
    /// Takes a word of `processor` that only a whole system has, with the values after it. Returns
    /// the number of taken values, and the access that the word reports of an instruction of the
    /// running `block`, by index.
    pub(crate) fn take_system(
        &mut self,
        processor: &mut Processor,
        word: Word,
        values: &[u64],
        block: u32,
    ) -> (usize, Option<(u32, u64)>) {
        let value = |index: usize| values.get(index).copied().unwrap_or(0);
        let Some(system) = &mut self.system else { return (0, None) };
        match word {
            Word::Operand(index) => {
                let info = self.blocks.get(block as usize);
                let word = info.map_or(0, |info: &BlockInfo| info.word(index as usize));
                system.operand(processor, index as u16, word, value(0));
                (1, (!is_context_only(word)).then(|| (index, value(0))))
            }
            Word::Exception(vector) => {
                let (syndrome, link) = (value(0), Some(value(1)));
                processor.arrival = Some(Arrival { vector, syndrome, link });
                (2, None)
            }
            Word::Page(bits) => {
                let (virt, phys, order) = (value(0), value(1), value(2));
                system.pages.note(processor.space, PageUse { virt, phys, bits, order });
                (3, None)
            }
            Word::Table => {
                processor.space.enter(value(0));
                (1, None)
            }
            _ => (0, None),
        }
    }
}
