//! Planning: emits the arrays in memory, one group after the other, each with the steps of the kernels that write it. Which
//! arrays are a group is decided in `group.rs`, and which are in memory by their forms.

use super::group::Together;
use super::in_place::without_copies;
use super::{Buffers, Input, Plan, PlanArgument, PlanOptions, PlannedArray, ResultArray, Step};
use crate::error::Error;
use crate::extents::{Extents, Knowledge, Length};
use crate::form::{Form, Forms};
use crate::fuser::Fuser;
use crate::in_memory::InMemory;
use crate::lower::{Listeners, Lowering};
use crate::program::{Node, NodeId};
use crate::verify::CheckedProgram;
use pumice_kernel::Profile;
use pumice_scalar::{Place, ScalarType};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};

/// The first slot that an array does not have yet.
const FORESEEN: usize = 1 << 40;

#[derive(Clone, Copy)]
pub(super) struct Planner<'a> {
    pub(super) program: &'a CheckedProgram,
    pub(super) profile: &'a Profile,
    pub(super) options: &'a PlanOptions,
    pub(super) knowledge: &'a Knowledge,
    pub(super) extents: &'a Extents,
    pub(super) forms: &'a Forms,
}

impl Planner<'_> {
    pub(super) fn plan(&self) -> Result<Plan, Error> {
        let Planner { program, profile, options, knowledge, extents, forms } = *self;
        let (buffers, sites) = (RefCell::new(Buffers::default()), RefCell::new(Vec::new()));
        let mut slots: HashMap<NodeId, usize> = HashMap::new();
        let mut cells: HashMap<NodeId, usize> = HashMap::new();
        let (mut inputs, mut steps, mut arrays) = (Vec::new(), Vec::new(), Vec::new());
        let reasons = RefCell::new(Vec::new());
        let mut done: HashSet<NodeId> = HashSet::new();
        // As `slots`, but pulls that will be in memory have one too: whether they are read in step is seen from their loads.
        let pulls = program.nodes().iter().filter(|node| self.is_written_pull(node));
        let mut foreseen: HashMap<NodeId, usize> =
            pulls.map(|node| (node.id, FORESEEN + node.id.0 as usize)).collect();
        let manifest = || program.nodes().iter().filter(|node| forms.is_manifest(node.id));
        // Given arrays are in memory from the start.
        for node in manifest().filter(|node| matches!(forms.of(node.id), Some(Form::Given))) {
            let slot = buffers.borrow_mut().add(&node.types, extents.size(node.id));
            slots.insert(node.id, slot);
            foreseen.insert(node.id, slot);
            done.insert(node.id);
            let buffers = buffers.borrow().of(slot).to_vec();
            arrays.push(self.in_memory(node, &buffers, Vec::new()));
            inputs.push(Input { node: node.id, place: node.place, buffers });
        }
        let mut waiting: VecDeque<&Node> = manifest().collect();
        let mut postponed: HashSet<NodeId> = HashSet::new();
        // Forms as they are from here on.
        let mut latest = Cow::Borrowed(forms);
        while let Some(node) = waiting.pop_front() {
            if done.contains(&node.id) {
                continue;
            }
            let forms = &latest.clone();
            let planner = Planner { forms, ..*self };
            // Others that come out of the same kernel, and those of them that are handed on in it and not written.
            let (group, how, unwritten) = {
                let fuser = Fuser::new(program, extents, forms, &foreseen);
                let (cells, buffers, sites, reasons) = (&cells, &buffers, &sites, &reasons);
                let lowering = Lowering {
                    profile,
                    options,
                    program,
                    extents,
                    knowledge,
                    fuser,
                    cells,
                    buffers,
                    sites,
                    reasons,
                    followers: &[],
                };
                if !postponed.contains(&node.id) && planner.is_better_later(node, &done, &lowering) {
                    postponed.insert(node.id);
                    waiting.push_back(node);
                    continue;
                }
                let (group, how) = planner.group(node, (&done, &postponed), &lowering);
                let unwritten = match how {
                    Together::WrittenAndHeard => planner.recomputed(&group, &done, &lowering),
                    _ => Vec::new(),
                };
                (group, how, unwritten)
            };
            if !unwritten.is_empty() {
                latest = Cow::Owned(forms.computing(&unwritten));
            }
            // An array that is read only in step, and only here, is not in memory at all.
            let unread: Vec<NodeId> = match how {
                Together::Heard | Together::Written => planner.unread(&group),
                Together::Produced | Together::WrittenAndHeard | Together::Looped => Vec::new(),
            };
            let followers = match how {
                Together::Produced | Together::Heard | Together::WrittenAndHeard => {
                    planner.followers(&group, &done)
                }
                Together::Written | Together::Looped => Vec::new(),
            };
            done.extend(&unread);
            let group: Vec<&Node> = group.into_iter().filter(|node| !unread.contains(&node.id)).collect();
            for member in group.iter().chain(&followers) {
                done.insert(member.id);
                if unwritten.contains(&member.id) {
                    // Its listeners know its elements by this number.
                    slots.insert(member.id, FORESEEN + member.id.0 as usize);
                    continue;
                }
                let slot = buffers.borrow_mut().add(&member.types, extents.size(member.id));
                slots.insert(member.id, slot);
                foreseen.insert(member.id, slot);
                steps.extend(buffers.borrow().of(slot).iter().copied().map(Step::Allocate));
                let mut found = Vec::new();
                for cell in extents.lengths(member.id).iter().filter_map(|length| length.cell) {
                    cells.entry(cell).or_insert_with(|| {
                        let slot = buffers.borrow_mut().add(&[ScalarType::I64], 1);
                        steps.extend(buffers.borrow().of(slot).iter().copied().map(Step::Allocate));
                        found.extend_from_slice(buffers.borrow().of(slot));
                        slot
                    });
                }
                arrays.push(planner.in_memory(member, buffers.borrow().of(slot), found));
            }
            // An array that is written here and read in step is computed once, and not read back.
            let computes = group.len() > 1 && how != Together::WrittenAndHeard;
            let written = group.iter().filter(|node| computes && planner.is_written_pull(node));
            let written: Vec<NodeId> = written.map(|node| node.id).chain(unread).collect();
            let computing = (!written.is_empty()).then(|| forms.computing(&written));
            let fuser = Fuser::new(program, extents, computing.as_ref().unwrap_or(forms), &slots);
            let lowering = Lowering {
                profile,
                options,
                program,
                extents,
                knowledge,
                fuser,
                cells: &cells,
                buffers: &buffers,
                sites: &sites,
                reasons: &reasons,
                followers: &followers.iter().map(|node| node.id).collect::<Vec<_>>(),
            };
            if let Some(sentence) = how.sentence(&group) {
                lowering.because(sentence);
            }
            if !followers.is_empty() {
                let names: Vec<&str> = followers.iter().map(|node| node.place.operation()).collect();
                lowering.because(format!("whoever has a result computes what follows: {}", names.join(", ")));
            }
            let computed: Vec<&Node> = group.iter().chain(&followers).copied().collect();
            let fused = planner.fused(&computed, &lowering.fuser);
            let mut lowered = planner.lower(&lowering, &group, how, &unwritten)?;
            let mut goes_on = false;
            for step in &mut lowered {
                if let Step::Launch(launch) = step {
                    launch.fused.clone_from(&fused);
                    // Operations of several kernels say why they begin as they do, and where it is worth a word how they go on.
                    if launch.why.is_empty() && goes_on {
                        launch
                            .why
                            .push("it goes on with what the kernel before left in memory for it".into());
                    }
                    goes_on = true;
                }
            }
            // Where nothing was launched, nothing is to be explained.
            reasons.borrow_mut().clear();
            steps.extend(lowered);
        }
        let result = |root: &NodeId| {
            let lengths = extents.lengths(*root);
            let cell = |length: &Length| {
                let slot = length.cell.and_then(|cell| cells.get(&cell));
                slot.and_then(|slot| buffers.borrow().of(*slot).first().copied())
            };
            ResultArray {
                place: program.node(*root).place,
                extents: lengths.iter().map(|length| length.bound as usize).collect(),
                cells: lengths.iter().map(cell).collect(),
                buffers: slots.get(root).map_or(Vec::new(), |slot| buffers.borrow().of(*slot).to_vec()),
            }
        };
        let results: Vec<ResultArray> = program.results().iter().map(result).collect();
        let cells = results.iter().flat_map(|result| result.cells.iter().flatten());
        let kept = results.iter().flat_map(|result| &result.buffers).chain(cells).copied().collect();
        let steps = release_after_last_use(without_copies(steps, &mut arrays, &kept), &kept);
        let (buffers, sites) = (buffers.into_inner().all, sites.into_inner());
        Ok(Plan { buffers, inputs, arrays, steps, results, sites, reads: None, keeps: Vec::new() })
    }

    /// An array that is in memory.
    fn in_memory(&self, node: &Node, buffers: &[usize], cells: Vec<usize>) -> PlannedArray {
        let extents =
            self.extents.lengths(node.id).iter().map(|length| length.bound.max(0) as usize).collect();
        let why = self.forms.why(node.id).unwrap_or(InMemory::Result);
        PlannedArray { place: node.place, extents, buffers: buffers.to_vec(), cells, why }
    }

    /// The operations whose elements are computed in the kernels of these arrays.
    fn fused(&self, group: &[&Node], fuser: &Fuser<'_>) -> Vec<Place> {
        let mut computed: HashSet<NodeId> = group.iter().map(|node| node.id).collect();
        let mut waiting: Vec<NodeId> = group.iter().flat_map(|node| self.inputs_of(node)).collect();
        while let Some(id) = waiting.pop() {
            if !fuser.forms.is_manifest(id) && computed.insert(id) {
                waiting.extend(self.inputs_of(self.program.node(id)));
            }
        }
        let nodes = self.program.nodes().iter().filter(|node| computed.contains(&node.id));
        let mut places: Vec<Place> = nodes.map(|node| node.place).collect();
        // Some of the user's operations are several here.
        places.dedup();
        places
    }

    /// The steps that write arrays which are computed together, apart from those that are only handed on.
    fn lower(
        &self,
        lowering: &Lowering<'_>,
        group: &[&Node],
        how: Together,
        unwritten: &[NodeId],
    ) -> Result<Vec<Step>, Error> {
        if let ([node, ..], Together::Looped) = (group, how) {
            return node.operation.consume(lowering, node);
        }
        if let [node] = group {
            return match lowering.is_idle(node.id) {
                true => Ok(Vec::new()),
                false => lowering.array(node, lowering.slot(node.id)?),
            };
        }
        let writing = |node: &&Node| {
            // An array that is written by a kernel of its own has no listeners to its result.
            Ok(match self.forms.of(node.id) {
                Some(Form::Alone) => Listeners { producer: node.id, heard: Vec::new() },
                _ if unwritten.contains(&node.id) => Listeners { producer: node.id, heard: Vec::new() },
                _ => lowering.writing(node, lowering.slot(node.id)?),
            })
        };
        let listeners = group.iter().map(writing).collect::<Result<Vec<_>, Error>>()?;
        let Some(first) = listeners.first() else { return Ok(Vec::new()) };
        match how {
            Together::Produced => self.program.node(first.producer).operation.produce(lowering, listeners),
            Together::Heard => lowering.hear(listeners),
            Together::Written => lowering.write_together(listeners, Vec::new()),
            Together::WrittenAndHeard => lowering.write_heard(listeners),
            Together::Looped => Ok(Vec::new()),
        }
    }
}

/// Adds a release of every buffer that is not kept after its last use.
fn release_after_last_use(steps: Vec<Step>, kept: &HashSet<usize>) -> Vec<Step> {
    let mut last: HashMap<usize, usize> = HashMap::new();
    for (position, step) in steps.iter().enumerate() {
        match step {
            Step::Allocate(buffer) | Step::Zero(buffer) => drop(last.insert(*buffer, position)),
            Step::Copy { from, to } => last.extend([(*from, position), (*to, position)]),
            Step::Launch(launch) => {
                last.extend(launch.arguments.iter().filter_map(|argument| match argument {
                    PlanArgument::Buffer(buffer) => Some((*buffer, position)),
                    _ => None,
                }))
            }
            Step::Release(_) => {}
        }
    }
    let mut released: HashMap<usize, Vec<usize>> = HashMap::new();
    for (buffer, position) in last.into_iter().filter(|(buffer, _)| !kept.contains(buffer)) {
        released.entry(position).or_default().push(buffer);
    }
    let mut all = Vec::new();
    for (position, step) in steps.into_iter().enumerate() {
        all.push(step);
        let mut done = released.remove(&position).unwrap_or_default();
        done.sort_unstable();
        all.extend(done.into_iter().map(Step::Release));
    }
    all
}
