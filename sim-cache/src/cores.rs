//! The private memory of each core: created when the core first runs, freed when the core will not
//! run again.

use std::ops::{Index, IndexMut};

use crate::core_memory::CoreMemory;

/// One slot for each core, empty for a core that does not run.
#[derive(Clone, Debug)]
pub(crate) struct Cores {
    places: Vec<Option<Box<CoreMemory>>>,
}

/// All cores but one.
#[derive(Debug)]
pub(crate) struct Peers<'a>([&'a mut [Option<Box<CoreMemory>>]; 2]);

impl Cores {
    /// Creates empty slots for a number of cores.
    pub(crate) fn asleep(cores: usize) -> Cores {
        Cores { places: (0..cores).map(|_| None).collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Sets or clears the memory of a core.
    pub(crate) fn set(&mut self, core: usize, memory: Option<CoreMemory>) {
        self.places[core] = memory.map(Box::new);
    }

    /// Returns the slot of a core, to move its content.
    pub(crate) fn boxed(&mut self, core: usize) -> &mut Option<Box<CoreMemory>> {
        &mut self.places[core]
    }

    pub(crate) fn is_awake(&self, core: usize) -> bool {
        self.places[core].is_some()
    }

    /// Returns the cores that run, with their numbers.
    pub(crate) fn awake(&self) -> impl Iterator<Item = (usize, &CoreMemory)> {
        self.places.iter().enumerate().filter_map(|(n, core)| Some((n, &**core.as_ref()?)))
    }

    /// Returns the cores that run.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut CoreMemory> {
        self.places.iter_mut().filter_map(|core| core.as_deref_mut())
    }

    /// Returns a core that runs, and all others.
    #[inline]
    pub(crate) fn split(&mut self, core: usize) -> (&mut CoreMemory, Peers<'_>) {
        let (before, rest) = self.places.split_at_mut(core);
        let (core, after) = rest.split_first_mut().expect("there is such a core");
        (core.as_deref_mut().expect("the core was woken"), Peers([before, after]))
    }
}

impl Peers<'_> {
    /// Returns the peers that run; others hold no state that could be lost.
    pub(crate) fn awake(&mut self) -> impl Iterator<Item = &mut CoreMemory> {
        self.0.iter_mut().flat_map(|part| part.iter_mut()).filter_map(|core| core.as_deref_mut())
    }
}

impl Index<usize> for Cores {
    type Output = CoreMemory;

    fn index(&self, core: usize) -> &CoreMemory {
        self.places[core].as_ref().expect("the core was woken")
    }
}

impl IndexMut<usize> for Cores {
    fn index_mut(&mut self, core: usize) -> &mut CoreMemory {
        self.places[core].as_mut().expect("the core was woken")
    }
}
