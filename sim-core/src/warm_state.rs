//! Warm state of caches, TLBs and predictors, as words that a visitor saves ([`StateSaver`]) or
//! loads ([`StateLoader`]).
//!
//! One function per unit lists its content once, for both directions. Loaded words come from files,
//! so a unit corrects each loaded value to one that it can hold.

/// A unit whose content outlives the instructions that wrote it.
pub trait WarmState {
    /// Passes all content to `visitor`. Order and number of words do not depend on the content.
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V);
}

/// Visitor that reads or replaces the content of a unit.
pub trait StateVisitor {
    /// Visits several pieces of content.
    fn words<T: Stored>(&mut self, content: &mut [T]);

    /// Visits bytes, eight to a word.
    fn bytes(&mut self, content: &mut [u8]);

    /// Visits a single piece of content.
    fn one<T: Stored>(&mut self, content: &mut T) {
        self.words(std::slice::from_mut(content));
    }
}

/// A piece of content that can be stored as words.
pub trait Stored: Copy {
    /// Number of words.
    const WORDS: usize;

    /// Writes the content to `words`.
    fn store(self, words: &mut [u64]);

    /// Returns the content of `words`. Accepts any words.
    fn load(words: &[u64]) -> Self;
}

impl Stored for u64 {
    const WORDS: usize = 1;

    #[inline]
    fn store(self, words: &mut [u64]) {
        words[0] = self;
    }

    #[inline]
    fn load(words: &[u64]) -> u64 {
        words[0]
    }
}

impl Stored for u32 {
    const WORDS: usize = 1;

    #[inline]
    fn store(self, words: &mut [u64]) {
        words[0] = self.into();
    }

    #[inline]
    fn load(words: &[u64]) -> u32 {
        words[0] as u32
    }
}

impl Stored for u16 {
    const WORDS: usize = 1;

    #[inline]
    fn store(self, words: &mut [u64]) {
        words[0] = self.into();
    }

    #[inline]
    fn load(words: &[u64]) -> u16 {
        words[0] as u16
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    const WORDS: usize = A::WORDS + B::WORDS;

    #[inline]
    fn store(self, words: &mut [u64]) {
        let (first, second) = words.split_at_mut(A::WORDS);
        self.0.store(first);
        self.1.store(second);
    }

    #[inline]
    fn load(words: &[u64]) -> (A, B) {
        let (first, second) = words.split_at(A::WORDS);
        (A::load(first), B::load(second))
    }
}

/// Visitor that copies content to words.
#[derive(Debug, Default)]
pub struct StateSaver {
    /// Words of the content visited so far.
    pub words: Vec<u64>,
}

impl StateSaver {
    /// Returns the words of a unit.
    pub fn save(unit: &mut impl WarmState) -> Vec<u64> {
        let mut saver = StateSaver::default();
        unit.visit(&mut saver);
        saver.words
    }
}

impl StateVisitor for StateSaver {
    fn words<T: Stored>(&mut self, content: &mut [T]) {
        let first = self.words.len();
        self.words.resize(first + content.len() * T::WORDS, 0);
        for (piece, words) in content.iter().zip(self.words[first..].chunks_exact_mut(T::WORDS)) {
            piece.store(words);
        }
    }

    fn bytes(&mut self, content: &mut [u8]) {
        self.words.extend(content.chunks(8).map(word_of));
    }
}

fn word_of(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// Visitor that replaces content with words. If the words run out, the rest of the content stays.
#[derive(Debug)]
pub struct StateLoader<'a> {
    words: &'a [u64],
}

impl<'a> StateLoader<'a> {
    /// Creates a loader of these words.
    pub fn new(words: &'a [u64]) -> StateLoader<'a> {
        StateLoader { words }
    }

    fn next(&mut self, count: usize) -> &'a [u64] {
        let (next, rest) = self.words.split_at(count.min(self.words.len()));
        self.words = rest;
        next
    }
}

impl StateVisitor for StateLoader<'_> {
    fn words<T: Stored>(&mut self, content: &mut [T]) {
        let words = self.next(content.len() * T::WORDS);
        for (piece, words) in content.iter_mut().zip(words.chunks_exact(T::WORDS)) {
            *piece = T::load(words);
        }
    }

    fn bytes(&mut self, content: &mut [u8]) {
        let words = self.next(content.len().div_ceil(8));
        for (bytes, word) in content.chunks_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Unit {
        pairs: [(u64, u64); 2],
        counters: [u8; 11],
        next: u32,
    }

    impl WarmState for Unit {
        fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
            visitor.words(&mut self.pairs);
            visitor.bytes(&mut self.counters);
            visitor.one(&mut self.next);
        }
    }

    #[test]
    fn loading_saved_words_restores_the_unit() {
        let counters = std::array::from_fn(|n| n as u8);
        let mut unit = Unit { pairs: [(1, 2), (3, u64::MAX)], counters, next: 9 };
        let words = StateSaver::save(&mut unit);
        assert_eq!(words.len(), 2 * 2 + 2 + 1);
        let mut other = Unit::default();
        other.visit(&mut StateLoader::new(&words));
        assert_eq!(other, unit);
    }

    #[test]
    fn too_few_words_leave_the_rest_as_it_is() {
        let mut unit = Unit { next: 7, ..Unit::default() };
        unit.visit(&mut StateLoader::new(&[5, 6, 8]));
        assert_eq!(unit.pairs[0], (5, 6));
        assert_eq!(unit.next, 7);
    }
}
