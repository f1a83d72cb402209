//! Pieces: loops over lanes, and where a lane finds the values in them.

use pumice_program::Var;

use crate::writer::Writer;

impl Writer<'_> {
    /// Does something with its statements going into the loop over lanes.
    pub(crate) fn inside<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.lanes.collecting, true);
        let result = write(self);
        self.lanes.collecting = before;
        result
    }

    /// Adds a line to the loop over lanes.
    pub(crate) fn lane_line(&mut self, line: &str) {
        self.lanes.body.line(line);
    }

    /// Ends a loop over lanes, which do not depend on each other but for what they do atomically.
    pub(crate) fn finish_piece(&mut self) {
        if !self.lanes.body.is_empty() && !self.lanes.ordered {
            self.text.directive("#pragma GCC ivdep");
        }
        self.finish_ordered_piece();
    }

    /// Ends a loop over lanes.
    pub(super) fn finish_ordered_piece(&mut self) {
        self.finish_piece_by(1);
    }

    /// Ends a loop over every so many-th lane.
    pub(super) fn finish_piece_by(&mut self, step: usize) {
        let definitions = std::mem::take(&mut self.lanes.definitions);
        let body = std::mem::take(&mut self.lanes.body);
        self.lanes.recomputed_here.clear();
        self.lanes.ordered = false;
        if body.is_empty() {
            return;
        }
        let (lane, width) = (&self.lanes.lane, &self.lanes.width);
        let advance = if step == 1 { format!("{lane}++") } else { format!("{lane} += {step}") };
        self.text.open(&format!("for (int {lane} = 0; {lane} < {width}; {advance})"));
        self.text.append_inside(&definitions);
        self.text.append_inside(&body);
        self.text.close();
    }

    /// Declares a mask and gives the place of a lane's element.
    pub(super) fn new_mask(&mut self, hint: &str) -> String {
        // Never wider: gcc 12 fails with an internal error on masks of 64-bit integers, at times.
        let name = self.new_lane_array(hint, "int");
        format!("{name}[{}]", self.lanes.lane)
    }

    /// Declares an array with an element for each lane, and gives its name.
    pub(crate) fn new_lane_array(&mut self, hint: &str, ty: &str) -> String {
        let name = self.names.fresh(hint);
        self.text.line(&format!("{ty} {name}[{}];", self.lanes.width));
        name
    }

    /// Returns the variable or array element that holds a lane's value. Values that pieces compute again are defined first.
    pub(crate) fn lane_place(&mut self, var: Var) -> String {
        let name = self.name(var).to_owned();
        if self.lanes.index == Some(var) {
            let (first, lane) = (&self.lanes.first, &self.lanes.lane);
            let index = if first.is_empty() { lane.clone() } else { format!("{first} + {lane}") };
            let ty = self.register(var);
            if self.lanes.recomputed_here.insert(var) {
                self.lanes.definitions.line(&format!("{ty} {name} = {index};"));
            }
            return name;
        }
        if !self.lanes.var_varies(var) {
            return name;
        }
        let plan = self.lanes.plan.clone();
        if let Some((op, operands)) = plan.as_ref().and_then(|plan| plan.recomputed(var)) {
            if self.lanes.recomputed_here.insert(var) {
                let value = self.operation(var, *op, operands);
                let line = format!("{} {name} = {};", self.register(var), value.text);
                self.lanes.definitions.line(&line);
            }
            return name;
        }
        if self.lanes.has_array(var) {
            return format!("{name}[{}]", self.lanes.lane);
        }
        name
    }

    /// Declares a value's array, if it has one.
    pub(crate) fn declare_lanes(&mut self, var: Var) -> bool {
        if !self.lanes.has_array(var) {
            return false;
        }
        let line = format!("{} {}[{}];", self.register(var), self.name(var), self.lanes.width);
        self.text.line(&line);
        true
    }

    /// Whether the piece that uses a value is the one that defines it.
    pub(crate) fn may_inline(&self, var: Var) -> bool {
        self.lanes.plan.as_ref().is_none_or(|plan| !plan.varies(var) || !plan.crosses(var))
    }

    /// Whether a lane is live, if that is in question.
    pub(crate) fn mask(&self) -> Option<String> {
        self.lanes.mask.clone().filter(|_| self.lanes.collecting)
    }
}
