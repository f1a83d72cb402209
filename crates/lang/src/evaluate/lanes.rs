//! Warp operations: the lanes exchange elements without memory, and vote.

use super::builtins::Call;
use super::value::Value;
use super::{Evaluator, Mode, Outcome};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::Type;
use pumice_kernel::{AnyLevel, Dynamic, Ix, Length, Push, Scalars, warp, written_at};
use pumice_scalar::{Exp, ScalarType, Term};
use std::rc::Rc;

impl Evaluator {
    /// `shuffle` and its like, and votes: a function of each lane's index, its element, and the value that it received from the others.
    pub(super) fn lanes(self: &Rc<Self>, call: &Call) -> Outcome<Value> {
        let span = call.span;
        let [how, combine, array] = &call.arguments[..] else {
            return Err(self.wrong(span, "a push array is wanted here"));
        };
        let (to, _) = self.element_type(call)?;
        let (push, from) = self.as_push(array, span)?;
        if !matches!(push.level(), AnyLevel::Warp | AnyLevel::Block) {
            let level = push.level().to_string().to_lowercase();
            let message = format!("`{}` of an array of the level `{level}`", call.name);
            let help = "lanes exchange the elements of a warp, or of the warps of a block: `push <warp>` or `push <block>`";
            return Err(Box::new(Diagnostic::new(span, message).help(help)));
        }
        let place = self.place(call.name, span);
        let (this, name, how, combine) = (self.clone(), call.name, how.clone(), combine.clone());
        let of = to.clone();
        let together = move |i: Ix, own: Scalars| {
            let result = this.within(Mode::Kernel, || {
                let element = this.of_scalars(own.clone(), &from, span)?;
                let got = written_at(place, || this.exchanged(name, &how, i, own, &from, span))?;
                this.apply_all(&combine, &[Value::scalar(i.term(), false), element, got], span)
            });
            this.item(result, &of, span).scalars()
        };
        let result: Push<AnyLevel, Dynamic, Length> = written_at(place, || push.imap(together));
        Ok(Value::Push(result, to))
    }

    /// Computes the value that a lane receives from the others.
    fn exchanged(
        self: &Rc<Self>,
        name: &str,
        how: &Value,
        index: Ix,
        own: Scalars,
        ty: &Type,
        span: Span,
    ) -> Outcome<Value> {
        let lane = |value: &Value| -> Outcome<Exp<i32>> {
            Ok(Exp::from_term(self.scalar(value, span)?.term.cast(ScalarType::I32)))
        };
        let vote = || -> Outcome<Exp<bool>> {
            let element = self.of_scalars(own.clone(), ty, span)?;
            Ok(Exp::from_term(self.scalar(&self.apply(how, element, span)?, span)?.term))
        };
        let flag = |term: Term| Ok(Value::scalar(term, false));
        let element = match name {
            "shuffle" => {
                let from = self.apply(how, Value::scalar(index.term(), false), span)?;
                warp::shuffle(own, lane(&from)?)
            }
            "shuffleUp" => warp::shuffle_up(own, lane(how)?),
            "shuffleDown" => warp::shuffle_down(own, lane(how)?),
            "shuffleXor" => warp::shuffle_xor(own, lane(how)?),
            "ballot" => return flag(warp::ballot(vote()?).term()),
            "anyLane" => return flag(warp::vote_any(vote()?).term()),
            _ => return flag(warp::vote_all(vote()?).term()),
        };
        self.of_scalars(element, ty, span)
    }
}
