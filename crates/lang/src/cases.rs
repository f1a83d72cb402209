//! Documentation that tools read: tests, which are `>>> expression` with the expected result below, and calls to time, `bench: expression`.

/// A test in a documentation comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The expression, as it is written.
    pub expression: String,
    /// The expected result, as it is written; empty if there is none.
    pub expected: String,
    /// Line of the documentation that has the expression, from 0.
    pub line: usize,
}

/// Prefix of a line that has a call to time.
const BENCH: &str = "bench:";

/// Returns the calls to time of a documentation comment, `bench: dotp xs ys`, each with its line, from 0.
///
/// ```
/// use pumice_lang::cases::benches;
///
/// assert_eq!(benches("Doubles all.\nbench: twice (iota 1000)"), [(1, "twice (iota 1000)")]);
/// ```
pub fn benches(docs: &str) -> Vec<(usize, &str)> {
    let lines = docs.lines().enumerate();
    lines.filter_map(|(line, text)| Some((line, text.trim().strip_prefix(BENCH)?.trim()))).collect()
}

/// Returns the tests of a documentation comment, as a [`crate::ast::Module`] has it. An expected result may take several lines: it ends
/// at the next empty line, test or call to time.
///
/// ```
/// use pumice_lang::cases::cases;
///
/// let cases = cases("Doubles all.\n>>> twice [1, 2]\n[2, 4]\n\nAnd so on.");
/// assert_eq!((cases[0].expression.as_str(), cases[0].expected.as_str(), cases[0].line), ("twice [1, 2]", "[2, 4]", 1));
/// ```
pub fn cases(docs: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    // Whether lines belong to the last case.
    let mut open = false;
    for (line, text) in docs.lines().enumerate() {
        let text = text.trim();
        if let Some(expression) = text.strip_prefix(">>>") {
            cases.push(Case { expression: expression.trim().to_string(), expected: String::new(), line });
            open = true;
        } else if text.is_empty() || text.starts_with(BENCH) {
            open = false;
        } else if let Some(case) = cases.last_mut().filter(|_| open) {
            if !case.expected.is_empty() {
                case.expected.push('\n');
            }
            case.expected.push_str(text);
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    #[test]
    fn tests_are_found_in_the_comments_of_items() {
        let text = "-- Adds.\n-- >>> add 1 2\n-- 3\n-- >>> rows\n-- [[1],\n--  [2]]\n--\n-- Nothing.\n--   >>> empty\nfun add x y = x + y";
        let parsed = crate::syntax::parse(FileId(0), text, &mut 0);
        let found = cases(parsed.module.functions[0].docs.as_deref().unwrap_or(""));
        let case = |expression: &str, expected: &str, line| Case {
            expression: expression.to_string(),
            expected: expected.to_string(),
            line,
        };
        assert_eq!(cases(">>> f\n1\nbench: f 3"), [case("f", "1", 0)]);
        assert_eq!(found, [case("add 1 2", "3", 1), case("rows", "[[1],\n[2]]", 3), case("empty", "", 8)]);
    }
}
