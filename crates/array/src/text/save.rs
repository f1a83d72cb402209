//! Text that gives the same program when it is read again, or why there is none.

use super::data::MOST_ELEMENTS;
use crate::data::whole_columns;
use crate::error::Error;
use crate::operation::Given;
use crate::program::ArrayProgram;
use crate::verify::CheckedProgram;
use pumice_scalar::PlacedMessage;

impl CheckedProgram {
    /// The program as text, with all elements of the arrays that it holds. An error names an operation that no text says (a
    /// kernel of the user's, a function of the host), or an array that is too large for one, and where it was written.
    pub fn saved_text(&self) -> Result<String, Error> {
        check(self)?;
        Ok(self.full_text())
    }
}

fn check(program: &ArrayProgram) -> Result<(), Error> {
    for node in program.nodes() {
        node.programs().iter().try_for_each(check)?;
        let refused = |why: String| Err(Error::Program(PlacedMessage::at(why, node.place)));
        if !node.operation.is_said_by_text() {
            let keyword = node.operation.keyword();
            return refused(format!("`{keyword}` calls a Rust function, so no text says the program"));
        }
        if let Some(Given::Data(data)) = node.operation.given() {
            let count =
                data.extents().iter().try_fold(1usize, |product, extent| product.checked_mul(*extent));
            if count.is_none_or(|count| count > MOST_ELEMENTS) {
                return refused(format!(
                    "an array of extents {:?} is held, and one in text has at most {MOST_ELEMENTS} elements: make it an argument",
                    data.extents()
                ));
            }
            // Elements that cannot be had would be left out.
            whole_columns(&**data)?;
        }
    }
    Ok(())
}
