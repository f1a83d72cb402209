//! The tests by which a program that can be stopped is: before each block, and in each `while` loop.
//!
//! A loop that is left early is left like any other: its values are whatever they are, and the program goes on to its end
//! through all of its barriers. So threads that wait for each other must leave a loop together, and decide together.

use pumice_program::Stmt;

use crate::dialect::Threads;
use crate::writer::Writer;

impl Writer<'_> {
    /// Writes the test before a block: those that have not begun do not.
    pub(crate) fn stop_before_block(&mut self) {
        let Some(stop) = self.stop.clone() else { return };
        let (lines, condition) = self.language.are_stopped(&stop, None);
        lines.iter().for_each(|line| self.text.line(line));
        self.text.line(&format!("if ({condition}) break;"));
    }

    /// Writes what a loop's test for stopping needs and returns it, to follow the condition under which the loop ends.
    /// Returns nothing if the program cannot be stopped.
    pub(crate) fn or_stopped(&mut self, stmt: &Stmt) -> String {
        let Some(stop) = self.stop.clone() else { return String::new() };
        let of_block = !self.in_threads && !self.in_warps;
        let (lines, condition) = if !of_block && !stmt.is_warp_collective() {
            (Vec::new(), self.language.is_stopped(&stop))
        } else {
            let warps = matches!(self.language.threads(), Threads::Numbered { warps: true, .. });
            let members = self.members.clone();
            self.language.are_stopped(&stop, (!of_block && warps).then_some(members.as_str()))
        };
        lines.iter().for_each(|line| self.sink().line(line));
        format!(" || {condition}")
    }
}
