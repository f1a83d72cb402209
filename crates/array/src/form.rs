//! Fusion: the form of every array of a program.
//!
//! An array is a *pull* (a function from index to element, which its consumer writes into its own code), *loose* (a pull
//! whose elements may be absent, as a filter's), a *push* (a program that hands elements on, to which its consumers listen)
//! or *manifest* (in memory). A consumer takes the form that its producer has; memory is written only where
//! - the array is a result, or an input or result of an operation that has a kernel of its own,
//! - an index is demanded from a push or a loose array (the elements of a fold, by something that indexes), or
//! - an array's elements would be computed more than once, and computing one costs more than [`RECOMPUTE`]: writing
//!   it and reading it back is cheaper. "More than once" is decided by index: however many operations use an array, if
//!   they do so at one index in one kernel, its element is one node of the graph and is computed once.

use crate::extents::Extents;
use crate::in_memory::InMemory;
use crate::operation::{Listens, Nature};
use crate::program::{ArrayProgram, Node, NodeId};
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

/// An element that costs more instructions than this is not computed twice: about a store and a load.
pub const RECOMPUTE: u32 = 12;

/// The most reads by index within each other: the fuser writes them out by recursion.
const MOST_DEEP: u32 = 8;

/// Form of an array: how its elements are computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// They exist before the program runs.
    Given,
    /// A kernel of the operation's own computes them.
    Alone,
    /// A function of the index computes them.
    Pull,
    /// A function of the index of another array computes them, and tells for each element whether it is there.
    Loose {
        /// The array that is filtered.
        space: NodeId,
    },
    /// A producer hands them on.
    Push {
        /// The operation that hands them on.
        producer: NodeId,
        /// The operations that listen to it and hand its elements on, changed, up to this one.
        stages: Vec<NodeId>,
    },
}

/// The forms of a program's arrays.
#[derive(Clone)]
pub struct Forms {
    /// With the reason why an array is in memory, if it is.
    forms: HashMap<NodeId, (Form, Option<InMemory>)>,
}

/// A use of an element: the array whose kernel needs it, and the path of index functions to it.
type Demand = (NodeId, u64);

impl Forms {
    /// Decides the form of every array that the results need. `computed` are arrays that exist already. Without fusion,
    /// every array is in memory.
    pub fn new(program: &ArrayProgram, extents: &Extents, computed: &HashSet<NodeId>, fuse: bool) -> Forms {
        let deciding = Deciding { program, extents: Some(extents), computed };
        let mut manifest = match fuse {
            true => deciding.manifest(),
            false => program.nodes().iter().map(|node| (node.id, Some(deciding.unfused(node)))).collect(),
        };
        deciding.provide_lengths(extents, &mut manifest);
        let mut forms = HashMap::new();
        for node in program.nodes() {
            if let Some(in_memory) = manifest.get(&node.id) {
                let form = deciding.form(node, &manifest, &forms);
                forms.insert(node.id, (form, *in_memory));
            }
        }
        Forms { forms }
    }

    /// The form of an array, whether it is written to memory or not; `None` if its elements are not needed.
    pub fn of(&self, node: NodeId) -> Option<&Form> {
        self.forms.get(&node).map(|(form, _)| form)
    }

    /// The same forms, but these arrays are computed where they are needed, whether they are in memory or not.
    pub(crate) fn computing(&self, arrays: &[NodeId]) -> Forms {
        let mut forms = self.forms.clone();
        for array in arrays {
            if let Some((_, in_memory)) = forms.get_mut(array) {
                *in_memory = None;
            }
        }
        Forms { forms }
    }

    /// Whether an array is in memory.
    pub fn is_manifest(&self, node: NodeId) -> bool {
        self.why(node).is_some()
    }

    /// Why an array is in memory, if it is.
    pub fn why(&self, node: NodeId) -> Option<InMemory> {
        self.forms.get(&node).and_then(|(_, why)| *why)
    }
}

/// The arrays of a program that are written to memory or are there already, whatever extents they have.
pub(crate) fn in_memory(program: &ArrayProgram, fuse: bool) -> HashSet<NodeId> {
    if !fuse {
        return program.nodes().iter().map(|node| node.id).collect();
    }
    let deciding = Deciding { program, extents: None, computed: &HashSet::new() };
    deciding.manifest().into_iter().filter_map(|(id, why)| why.map(|_| id)).collect()
}

/// Form that an array would have if nothing needed it in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// In memory.
    Stored,
    Pull,
    Loose,
    /// Handed on by this producer; whether elements may be absent.
    Push(NodeId, bool),
}

struct Deciding<'a> {
    program: &'a ArrayProgram,
    /// If they are known by now.
    extents: Option<&'a Extents>,
    computed: &'a HashSet<NodeId>,
}

impl Deciding<'_> {
    fn nature(&self, node: &Node) -> Nature {
        if self.computed.contains(&node.id) { Nature::Given } else { node.operation.nature() }
    }

    /// Why an array is in memory if nothing is fused.
    fn unfused(&self, node: &Node) -> InMemory {
        if self.nature(node) == Nature::Given { InMemory::Given } else { InMemory::Unfused }
    }

    /// The arrays whose elements are needed, and why each is in memory that is.
    fn manifest(&self) -> HashMap<NodeId, Option<InMemory>> {
        let program = self.program;
        let kinds = self.kinds();
        let (cost, depths) = (self.costs(), self.depths());
        let mut demands: HashMap<NodeId, HashSet<Demand>> = HashMap::new();
        let mut must_exist: HashMap<NodeId, InMemory> =
            program.results().iter().map(|result| (*result, InMemory::Result)).collect();
        let mut manifest = HashMap::new();
        for node in program.nodes().iter().rev() {
            let mine = demands.remove(&node.id).unwrap_or_default();
            if mine.is_empty() && !must_exist.contains_key(&node.id) {
                continue; // Only its extents are mentioned.
            }
            let nature = self.nature(node);
            let kind = kinds[&node.id];
            // All that hear a producer hear the same.
            let is_heard = matches!(kind, Kind::Push(..));
            let repeated = mine.len() > 1 && cost[&node.id] > RECOMPUTE && !is_heard;
            let why = match (nature, must_exist.get(&node.id)) {
                (Nature::Given, _) => Some(InMemory::Given),
                (_, Some(reason)) => Some(*reason),
                _ if kind == Kind::Stored => Some(InMemory::OwnKernel),
                _ if repeated => Some(InMemory::Recomputed { cost: cost[&node.id] }),
                _ => node.operation.is_in_memory().then_some(InMemory::Incomplete),
            };
            let in_memory = why.is_some();
            manifest.insert(node.id, why);
            if nature == Nature::Given || in_memory && self.is_idle(node, kind) {
                continue;
            }
            if let (Kind::Push(producer, true), true) = (kind, in_memory) {
                // Placing loose elements takes a producer that hands them on evenly: memory.
                must_exist.entry(producer).or_insert(InMemory::Loose { by: node.place });
            }
            for (position, input) in node.inputs.iter().enumerate() {
                if !self.takes(node, position, &kinds) {
                    let by = node.place;
                    must_exist.entry(*input).or_insert(match kinds[input] {
                        Kind::Loose | Kind::Push(_, true) => InMemory::Loose { by },
                        Kind::Push(_, false) => InMemory::HandedOn { by },
                        Kind::Stored | Kind::Pull => InMemory::Read { by },
                    });
                } else if node.operation.repeats() && cost[input] > RECOMPUTE {
                    must_exist
                        .entry(*input)
                        .or_insert(InMemory::Repeated { by: node.place, cost: cost[input] });
                }
                let theirs = demands.entry(*input).or_default();
                match (in_memory, kind) {
                    (false, Kind::Pull | Kind::Loose) => {
                        let through = mine.iter().map(|(kernel, path)| (*kernel, along(*path, node)));
                        // Two are as good as many.
                        theirs.extend(through.take(2));
                    }
                    _ => drop(theirs.insert((node.id, along(0, node)))),
                }
            }
            // A length that only the device finds is found when its array is placed, also where nothing else is asked of that.
            let cells = node
                .mentions()
                .filter_map(|(array, dimension)| self.extents?.lengths(array).get(dimension as usize)?.cell);
            for cell in cells {
                must_exist.entry(cell).or_insert(InMemory::Length { by: node.place });
            }
            for read in node.reads() {
                // The number of reads of an element is mostly unknown.
                let is_cheap = cost[&read] <= RECOMPUTE || node.operation.reads_once();
                if kinds[&read] != Kind::Pull || !is_cheap || depths[&read] >= MOST_DEEP {
                    let (by, cost) = (node.place, cost[&read]);
                    must_exist.entry(read).or_insert(match kinds[&read] {
                        Kind::Loose | Kind::Push(_, true) => InMemory::Loose { by },
                        Kind::Push(_, false) => InMemory::HandedOn { by },
                        Kind::Stored | Kind::Pull => InMemory::Indexed { by, cost },
                    });
                }
                demands.entry(read).or_default().insert((node.id, along(u64::from(read.0), node)));
            }
        }
        manifest
    }

    /// Whether an array in memory is known to have no elements, so that nothing is asked of what they would be made of.
    fn is_idle(&self, node: &Node, kind: Kind) -> bool {
        let speaks = match kind {
            Kind::Pull => false,
            Kind::Push(producer, false) => self.program.node(producer).operation.speaks_when_empty(),
            Kind::Push(_, true) | Kind::Stored | Kind::Loose => true,
        };
        let is_empty = |extents: &Extents| extents.size(node.id) == 0 && extents.is_known(node.id);
        !speaks && self.extents.is_some_and(is_empty)
    }

    /// Whether an operation can do with an input that is not in memory.
    fn takes(&self, node: &Node, position: usize, kinds: &HashMap<NodeId, Kind>) -> bool {
        let listens = node.operation.listens(position);
        match (kinds[&node.inputs[position]], kinds[&node.id], self.nature(node)) {
            (Kind::Stored | Kind::Pull, _, Nature::Pull | Nature::Loose) => true,
            (Kind::Stored | Kind::Pull, _, Nature::Push) => !node.operation.needs_memory(),
            (Kind::Stored | Kind::Pull, _, _) => {
                listens == Listens::Gathers || node.operation.reads_pulls(position)
            }
            (Kind::Loose, Kind::Loose, _) => true,
            (Kind::Push(theirs, _), Kind::Push(mine, _), _) if theirs == mine => true,
            (Kind::Push(..), Kind::Push(..), Nature::Pull | Nature::Loose) => false,
            (Kind::Loose, ..) => node.operation.takes_loose(position),
            (Kind::Push(_, loose), ..) => {
                node.operation.gathers(node, position) && (!loose || node.operation.takes_loose(position))
            }
        }
    }

    /// The kind of every array.
    fn kinds(&self) -> HashMap<NodeId, Kind> {
        let mut uses: HashMap<NodeId, usize> = HashMap::new();
        for node in self.program.nodes() {
            for input in node.inputs.iter().copied().chain(node.reads()) {
                *uses.entry(input).or_default() += 1;
            }
        }
        let mut kinds: HashMap<NodeId, Kind> = HashMap::new();
        let is_loose = |producer: NodeId| self.program.node(producer).operation.hands_on_loose();
        for node in self.program.nodes() {
            let of = |input: &NodeId| match kinds.get(input).copied().unwrap_or(Kind::Stored) {
                // Other uses find it in memory, or hear it too.
                Kind::Push(producer, _) if uses.get(input) != Some(&1) && !is_loose(producer) => Kind::Stored,
                kind => kind,
            };
            let kind = match self.nature(node) {
                Nature::Given | Nature::Memory => Kind::Stored,
                Nature::Push => match node.inputs.first().map(of) {
                    Some(Kind::Push(producer, _))
                        if node.operation.listens(0) == Listens::Expands && is_loose(producer) =>
                    {
                        Kind::Push(producer, true)
                    }
                    _ => Kind::Push(node.id, node.operation.hands_on_loose()),
                },
                Nature::Loose => match node.inputs.first().map(of) {
                    Some(Kind::Push(producer, _)) => Kind::Push(producer, true),
                    _ => Kind::Loose,
                },
                Nature::Pull => followed(node, of),
            };
            kinds.insert(node.id, kind);
        }
        kinds
    }

    /// Returns the cost of one element of each array if everything before it is fused.
    fn costs(&self) -> HashMap<NodeId, u32> {
        const LOAD: u32 = 4;
        let mut costs: HashMap<NodeId, u32> = HashMap::new();
        for node in self.program.nodes() {
            let cost = match self.nature(node) {
                Nature::Given | Nature::Memory | Nature::Push => LOAD,
                Nature::Pull | Nature::Loose => {
                    let inputs = node.inputs.iter().copied().chain(node.reads());
                    inputs.map(|input| costs[&input]).fold(node.operation.cost(), u32::saturating_add)
                }
            };
            costs.insert(node.id, cost);
        }
        costs
    }

    /// Returns, for each array, the nesting depth of reads by index in an element if everything before it is fused.
    fn depths(&self) -> HashMap<NodeId, u32> {
        let mut depths: HashMap<NodeId, u32> = HashMap::new();
        for node in self.program.nodes() {
            let inputs = node.inputs.iter().map(|input| depths[input]);
            let reads = node.reads().into_iter().map(|read| depths[&read] + 1);
            let depth = match self.nature(node) {
                Nature::Pull | Nature::Loose => inputs.chain(reads).max().unwrap_or(0),
                Nature::Given | Nature::Memory | Nature::Push => 0,
            };
            depths.insert(node.id, depth.min(MOST_DEEP));
        }
        depths
    }

    /// Makes sure that lengths which only the device finds are found before something needs them: by placing a loose
    /// array of that length.
    fn provide_lengths(&self, extents: &Extents, manifest: &mut HashMap<NodeId, Option<InMemory>>) {
        let mut provided: HashSet<NodeId> = HashSet::new();
        let loose = self.loose();
        for node in self.program.nodes() {
            let Some(why) = manifest.get(&node.id).copied() else { continue };
            let cells = extents.lengths(node.id).into_iter().filter_map(|length| length.cell);
            let cells: Vec<NodeId> = cells.collect();
            if loose.contains(&node.id) {
                if why.is_some() {
                    provided.extend(cells);
                }
                continue;
            }
            for cell in cells {
                if provided.insert(cell) {
                    let why = manifest.entry(cell).or_default();
                    *why = why.or(Some(InMemory::Length { by: node.place }));
                }
            }
        }
    }

    /// The arrays that are a filter's or an expansion's result, or a function of one element by element.
    fn loose(&self) -> HashSet<NodeId> {
        let mut loose = HashSet::new();
        for node in self.program.nodes() {
            let is = match self.nature(node) {
                Nature::Loose => true,
                Nature::Push => node.operation.hands_on_loose(),
                Nature::Pull => {
                    matches!(node.inputs[..], [input] if loose.contains(&input))
                        && node.operation.listens(0) == Listens::Maps
                }
                _ => false,
            };
            if is {
                loose.insert(node.id);
            }
        }
        loose
    }

    /// The form of an array, given which arrays are in memory.
    fn form(
        &self,
        node: &Node,
        manifest: &HashMap<NodeId, Option<InMemory>>,
        forms: &HashMap<NodeId, (Form, Option<InMemory>)>,
    ) -> Form {
        let of = |input: &NodeId| match forms.get(input) {
            Some((Form::Loose { .. }, None)) => Kind::Loose,
            Some((Form::Push { producer, .. }, None)) => Kind::Push(*producer, false),
            Some((Form::Pull, None)) => Kind::Pull,
            _ => Kind::Stored,
        };
        let through = || {
            let followed = node.inputs.iter().filter_map(|input| match forms.get(input) {
                Some((Form::Push { producer, stages }, None)) => Some((*producer, stages.clone())),
                _ => None,
            });
            let (producer, mut stages) = followed.into_iter().next().unwrap_or((node.id, Vec::new()));
            stages.push(node.id);
            Form::Push { producer, stages }
        };
        match self.nature(node) {
            Nature::Given => Form::Given,
            Nature::Memory => Form::Alone,
            Nature::Push => match node.inputs.first().map(of) {
                Some(Kind::Push(..)) if node.operation.listens(0) == Listens::Expands => through(),
                _ => Form::Push { producer: node.id, stages: Vec::new() },
            },
            Nature::Loose => match node.inputs.first().map(|input| (of(input), forms.get(input), *input)) {
                Some((Kind::Push(..), ..)) if manifest.get(&node.id) == Some(&None) => through(),
                Some((Kind::Loose, Some((Form::Loose { space }, _)), _)) => Form::Loose { space: *space },
                Some((_, _, input)) => Form::Loose { space: input },
                None => Form::Pull,
            },
            Nature::Pull => match followed(node, of) {
                Kind::Push(..) => through(),
                Kind::Loose => match node.inputs.first().and_then(|input| forms.get(input)) {
                    Some((Form::Loose { space }, _)) => Form::Loose { space: *space },
                    _ => Form::Pull,
                },
                Kind::Pull | Kind::Stored => Form::Pull,
            },
        }
    }
}

/// The kind of a pull whose inputs are of these kinds: it follows one that is handed on, if it can listen to it.
fn followed(node: &Node, of: impl Fn(&NodeId) -> Kind) -> Kind {
    let kinds: Vec<Kind> = node.inputs.iter().map(of).collect();
    let handed: Vec<(usize, Kind)> = kinds
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, kind)| matches!(kind, Kind::Push(..) | Kind::Loose))
        .collect();
    let [(position, kind)] = handed[..] else { return Kind::Pull };
    match (node.operation.listens(position), kind) {
        (Listens::Maps, Kind::Loose | Kind::Push(_, true)) if kinds.len() == 1 => kind,
        (Listens::Maps, Kind::Push(_, false)) => kind,
        (Listens::Reindexes, Kind::Push(_, false)) => kind,
        _ => Kind::Pull,
    }
}

/// The path of an index (as a hash) through an operation: only changes of the index count.
fn along(path: u64, node: &Node) -> u64 {
    let keeps = node.operation.nature() == Nature::Loose || node.operation.listens(0) == Listens::Maps;
    if keeps {
        return path;
    }
    let mut hasher = DefaultHasher::new();
    (path, node.id).hash(&mut hasher);
    hasher.finish()
}
