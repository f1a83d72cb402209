//! Kernels from data: values whose kind, columns, level and length are known only when the kernel is built.
//!
//! Programs in Rust name the types of their arrays, and rustc checks them. A front end that reads a source file has no such
//! types: all that it has is a [`Value`]. The operations are the same ones; [`Any`], [`Dynamic`], [`AnyLevel`] and
//! [`Length`] stand where Rust's types would, and what rustc refuses is a [`crate::BuildError`] in the same words.

use crate::builder::{probe, with};
use crate::effects;
use crate::item::{Dynamic, Item, ItemForm, Ix, Scalars, Storable};
use crate::level::{AnyLevel, Level};
use crate::pull::Rows;
use crate::size::{Length, Size};
use crate::{Mutable, Pull, Push};
use pumice_scalar::{Constant, Exp, Primitive, ScalarType, Term};

/// An item of an array whose kind is data: elements, or arrays again.
///
/// ```
/// use pumice::kernel::{Any, Length, Pull, Value};
/// // An array of whatever a source file says.
/// fn first(xs: &Pull<Any, Length>) -> Value {
///     xs.head()
/// }
/// ```
#[derive(Debug)]
pub enum Any {}

/// A value of the kernel language, of any kind. See [`crate::define_data`].
///
/// ```
/// use pumice::Exp;
/// use pumice::kernel::{Pull, Value};
/// assert!(matches!(Value::from(Exp::from(1i64)), Value::Scalars(_)));
/// assert!(matches!(Value::from(Pull::<i64>::new(3, |i| i)), Value::Pull(_)));
/// ```
#[derive(Clone)]
pub enum Value {
    /// An element: its scalars.
    Scalars(Scalars),
    /// A pull array of elements or arrays.
    Pull(Pull<Any, Length>),
    /// A push array of elements.
    Push(Push<AnyLevel, Dynamic, Length>),
    /// Memory that changes.
    Memory(Mutable<Dynamic>),
}

impl crate::item::sealed::Item for Any {}

impl Item for Any {
    type Form = Value;
    fn guarded(condition: Exp<bool>, form: &dyn Fn() -> Value) -> Value {
        match probe(form) {
            Value::Scalars(_) => Value::Scalars(Dynamic::guarded(condition, &|| form().scalars())),
            Value::Pull(_) => Value::Pull(Pull::guarded(condition, &|| form().pull())),
            Value::Push(_) => Value::Push(Push::guarded(condition, &|| form().push())),
            Value::Memory(_) => effects::under(condition.term(), form),
        }
    }
}

impl ItemForm for Value {
    type Item = Any;
}

fn mistake(message: &str) {
    with(|builder| builder.mistake(message));
}

impl Value {
    /// Returns its kind, in words.
    fn kind(&self) -> &'static str {
        match self {
            Value::Scalars(_) => "an element",
            Value::Pull(_) => "a pull array",
            Value::Push(_) => "a push array",
            Value::Memory(_) => "memory that changes",
        }
    }

    fn wrong(&self, wanted: &str) {
        with(|builder| builder.mistake(format!("{} where {wanted} is wanted", self.kind())));
    }

    /// The scalars of an element. Anything else is an error when the kernel is built, and has none.
    ///
    /// ```
    /// use pumice::Exp;
    /// use pumice::kernel::Value;
    /// assert_eq!(Value::from(Exp::from(1i64)).scalars().0.len(), 1);
    /// ```
    pub fn scalars(self) -> Scalars {
        match self {
            Value::Scalars(scalars) => scalars,
            other => {
                other.wrong("an element");
                Scalars(Vec::new())
            }
        }
    }

    /// The one scalar of an element of this type. Anything else is an error when the kernel is built.
    ///
    /// ```
    /// use pumice::Exp;
    /// use pumice::kernel::Value;
    /// use pumice::layers::scalar::ScalarType;
    /// assert_eq!(Value::from(Exp::from(1i64)).scalar(ScalarType::I64).integer(), Some(1));
    /// ```
    pub fn scalar(self, ty: ScalarType) -> Term {
        match self.scalars().0[..] {
            [term] if term.ty() == ty => term,
            ref other => {
                let found = other.iter().map(|term| term.ty().name()).collect::<Vec<_>>().join(", ");
                with(|builder| builder.mistake(format!("({found}) where ({ty}) is wanted")));
                Constant::zero(ty).into()
            }
        }
    }

    /// An index or a length.
    ///
    /// ```
    /// use pumice::Exp;
    /// use pumice::kernel::Value;
    /// assert_eq!(Value::from(Exp::from(7i64)).index().term().integer(), Some(7));
    /// ```
    pub fn index(self) -> Ix {
        Exp::from_term(self.scalar(ScalarType::I64))
    }

    /// A condition.
    ///
    /// ```
    /// use pumice::Exp;
    /// use pumice::kernel::Value;
    /// let both = Value::from(Exp::from(true)).condition() & Exp::from(true);
    /// ```
    pub fn condition(self) -> Exp<bool> {
        Exp::from_term(self.scalar(ScalarType::Bool))
    }

    /// A pull array. A push array cannot be indexed: that, and anything else, is an error when the kernel is built.
    ///
    /// ```
    /// use pumice::kernel::{Pull, Size, Value};
    /// assert_eq!(Value::from(Pull::<i64>::new(3, |i| i)).pull().len().known(), Some(3));
    /// ```
    pub fn pull(self) -> Pull<Any, Length> {
        match self {
            Value::Pull(array) => return array,
            Value::Push(_) => mistake(
                "a push array cannot be indexed or taken apart: force it first. `force` writes it to its level's memory and \
                 gives a pull array; `force_within` does for a length that is known on the device",
            ),
            other => other.wrong("a pull array"),
        }
        Pull::new(Length::Known(0), |_| Value::Scalars(Scalars(Vec::new())))
    }

    /// A pull array of elements; see [`Value::pull`].
    ///
    /// ```
    /// use pumice::kernel::{Pull, Value};
    /// let first = Value::from(Pull::<i64>::new(3, |i| i + 5)).elements().head();
    /// assert_eq!(first.column(0).integer(), Some(5));
    /// ```
    pub fn elements(self) -> Pull<Dynamic, Length> {
        self.pull().map(Value::scalars)
    }

    /// An array of rows of elements, all of one length; see [`Value::pull`].
    ///
    /// ```
    /// use pumice::kernel::{Pull, Value};
    /// let matrix = Pull::<Pull<i64>>::new(2, |i| Pull::new(3, move |j| i * 10 + j));
    /// assert_eq!(Value::from(matrix).rows().last().last().column(0).integer(), Some(12));
    /// ```
    pub fn rows(self) -> Rows<Dynamic> {
        self.pull().dynamic().map(|row| row.elements().dynamic())
    }

    /// A push array of elements. Anything else is an error when the kernel is built.
    ///
    /// ```
    /// use pumice::kernel::{AnyLevel, Block, Pull, Value};
    /// let pushed = Value::from(Pull::<i64>::new(3, |i| i).push::<Block>());
    /// assert_eq!(pushed.push().level(), AnyLevel::Block);
    /// ```
    pub fn push(self) -> Push<AnyLevel, Dynamic, Length> {
        match self {
            Value::Push(array) => array,
            other => {
                other.wrong("a push array");
                Push::trusted_at(AnyLevel::Thread, Length::Known(0), |_| {})
            }
        }
    }

    /// Memory that changes. Anything else is an error when the kernel is built.
    ///
    /// ```
    /// use pumice::Exp;
    /// use pumice::kernel::{Grid, Loops, Mutable, Scalars, Value, define};
    /// define("clear", 32, |xs: Mutable<i64>| {
    ///     let cells = Value::from(xs).memory();
    ///     Grid::for_each(cells.len(), &|i| cells.write(i, Scalars(vec![Exp::from(0i64).term()])));
    /// })?;
    /// # Ok::<(), pumice::kernel::BuildError>(())
    /// ```
    pub fn memory(self) -> Mutable<Dynamic> {
        match self {
            Value::Memory(memory) => memory,
            other => {
                other.wrong("memory that changes");
                Mutable::global(Vec::new(), Exp::from(0))
            }
        }
    }
}

impl From<Scalars> for Value {
    fn from(scalars: Scalars) -> Value {
        Value::Scalars(scalars)
    }
}

impl From<Term> for Value {
    fn from(term: Term) -> Value {
        Value::Scalars(Scalars(vec![term]))
    }
}

impl<T: Primitive> From<Exp<T>> for Value {
    fn from(value: Exp<T>) -> Value {
        value.term().into()
    }
}

impl<T: Item, S: Size> From<Pull<T, S>> for Value
where
    Value: From<T::Form>,
{
    fn from(array: Pull<T, S>) -> Value {
        Value::Pull(Pull::new(array.len().to_length(), move |i| array.get(i).into()))
    }
}

impl<L: Level, T: Storable, S: Size> From<Push<L, T, S>> for Value {
    fn from(array: Push<L, T, S>) -> Value {
        let every = array.clone();
        let push = Push::trusted_at(array.level(), array.len().to_length(), move |write| {
            array.write(&|index, value| write(index, Scalars(T::terms(&value))));
        });
        Value::Push(push.complete_if(move || every.is_complete()))
    }
}

impl<T: Storable> From<Mutable<T>> for Value {
    fn from(memory: Mutable<T>) -> Value {
        Value::Memory(Mutable::global(memory.cells().to_vec(), memory.len()))
    }
}
