//! Random programs whose types are right, made of bytes: scalars, records, sums, comprehensions, operations of whole arrays, and kernels
//! of all levels. None of them fails when it runs.

/// The file that a program of [`typed`] imports as `shapes`.
pub const SHAPES: &str = "type Point = { x : int, y : int }
type Shape = Circle int | Box int int | Nothing
fun area s = case s of | Circle r => 3 * r * r | Box w h => w * h | Nothing => 0
fun turned p = { p with x = p.y, y = p.x }
";

/// The text before `it` in a program of [`typed`].
const BEFORE: &str = "import shapes (area, turned, Point)
fun twice f x = f (f x)
sig parts : <l> -> int -> (a -> a) -> [a] -> [a]<1+l>
fun parts <l> n f arr = splitUp n arr |> map (fn part => push <l> (map f part)) |> concat n
";

/// A program with a function `it`.
pub fn typed(bytes: &[u8]) -> String {
    let mut maker = Typed { bytes, names: Vec::new(), next: 0 };
    let body = match maker.choose(6) {
        0 => maker.int(4),
        1 => format!("({}, {})", maker.int(3), maker.ints(3)),
        2 => format!("{{ a = {}, b = {} }}", maker.ints(3), maker.point(3)),
        3 => maker.ints(4),
        _ => maker.kernel(),
    };
    format!("{BEFORE}fun it = {body}\n")
}

struct Typed<'b> {
    bytes: &'b [u8],
    /// Integers that are in scope.
    names: Vec<String>,
    next: usize,
}

impl Typed<'_> {
    fn choose(&mut self, count: u8) -> u8 {
        match self.bytes.split_first() {
            Some((byte, rest)) => {
                self.bytes = rest;
                byte % count
            }
            None => 0,
        }
    }

    /// Text with new names of integers in scope.
    fn with<const N: usize>(&mut self, f: impl FnOnce(&mut Self, [String; N]) -> String) -> String {
        let before = self.names.len();
        let names = std::array::from_fn(|_| {
            self.next += 1;
            format!("v{}", self.next)
        });
        self.names.extend(names.iter().cloned());
        let text = f(self, names);
        self.names.truncate(before);
        text
    }

    fn function(&mut self, depth: u8) -> String {
        self.with(|this, [x]| format!("(fn {x} => {})", this.int(depth)))
    }

    fn small(&mut self) -> String {
        self.choose(10).to_string()
    }

    fn int(&mut self, depth: u8) -> String {
        if depth == 0 {
            let back = self.choose(3) as usize;
            return match self.names.len().checked_sub(back).and_then(|at| self.names.get(at)) {
                Some(name) => name.clone(),
                None => self.small(),
            };
        }
        let depth = depth - 1;
        let text = match self.choose(18) {
            0..=2 => {
                let sign = ["+", "-", "*", "band", "xor"][self.choose(5) as usize];
                format!("({} {sign} {})", self.int(depth), self.int(depth))
            }
            3 => format!("({} mod 7)", self.int(depth)),
            4 => format!("({} / (({} band 3) + 1))", self.int(depth), self.int(0)),
            5 => format!("(if {} then {} else {})", self.condition(depth), self.int(depth), self.int(depth)),
            6 => {
                let value = self.int(depth);
                self.with(|this, [x]| format!("(let {x} = {value} in {})", this.int(depth)))
            }
            7 => {
                let (shape, nothing) = (self.shape(depth), self.int(0));
                self.with(|this, [r, w]| {
                    let (circle, square) = (this.int(depth), this.int(depth));
                    let circle = format!("shapes::Circle {r} => let {w} = {r} in {circle}");
                    let square = format!("shapes::Box {r} {w} => {square}");
                    format!("case {shape} of | {circle} | {square} | shapes::Nothing => {nothing}")
                })
            }
            8 => format!("({}).x", self.point(depth)),
            9 => format!("area ({})", self.shape(depth)),
            10 => {
                let list = [self.int(depth), self.int(0), self.int(0), self.int(0)].join(", ");
                format!("index (reverse [{list}]) ({} band 3)", self.int(depth))
            }
            11 => format!("sum {}", self.pull(depth)),
            12 => format!("length {}", self.pull(depth)),
            13 => {
                let (times, first) = (self.small(), self.int(depth));
                self.with(|this, [i, x]| {
                    format!("seqfor {times} (fn {i} {x} => {}) {first}", this.int(depth))
                })
            }
            14 => {
                let (most, first) = (self.small(), self.int(depth));
                self.with(|this, [x]| {
                    format!(
                        "whileLoop (fn {x} => {x} < {most}) (fn {x} => {x} + 1 + abs ({}) mod 3) {first}",
                        this.int(depth)
                    )
                })
            }
            15 => format!("twice {} {}", self.function(depth), self.int(0)),
            16 => format!("int (f32 {} * 0.5)", self.int(0)),
            _ => self.int(0),
        };
        format!("({text})")
    }

    fn condition(&mut self, depth: u8) -> String {
        match self.choose(4) {
            0 => format!("{} == {}", self.int(depth), self.int(0)),
            1 => {
                format!("({} < {} && not ({} > {}))", self.int(0), self.int(depth), self.int(0), self.int(0))
            }
            2 => format!("({}, {}) < ({}, {})", self.int(0), self.int(depth), self.int(0), self.int(0)),
            _ => format!("{} <= {}", self.int(depth), self.int(0)),
        }
    }

    fn point(&mut self, depth: u8) -> String {
        let point = format!("{{ x = {}, y = {} }}", self.int(depth), self.int(0));
        match self.choose(3) {
            0 => format!("turned ({point} : Point)"),
            _ => point,
        }
    }

    fn shape(&mut self, depth: u8) -> String {
        match self.choose(3) {
            0 => format!("shapes::Circle {}", self.int(depth)),
            1 => format!("shapes::Box {} {}", self.int(depth), self.int(0)),
            _ => "shapes::Nothing".to_string(),
        }
    }

    /// An array of integers that can be anywhere.
    fn pull(&mut self, depth: u8) -> String {
        if depth == 0 {
            return format!("(iota {})", self.small());
        }
        let depth = depth - 1;
        let text = match self.choose(8) {
            0 => format!("[{}, {}, {}]", self.int(depth), self.int(0), self.int(0)),
            1 => format!("generate {} {}", self.small(), self.function(depth)),
            2 => format!("map {} {}", self.function(depth), self.pull(depth)),
            3 => {
                let (a, b) = (self.pull(depth), self.pull(depth));
                // Arrays of two lengths are as long as the shorter one.
                self.with(|this, [x, y]| {
                    format!("(let one = {a}; n = min (length one) (length {b}) in zipWith (fn {x} {y} => {}) (takeFirst n one) (takeFirst n {b}))", this.int(depth))
                })
            }
            4 => format!("reverse {}", self.pull(depth)),
            5 => format!("takeFirst {} {}", self.small(), self.pull(depth)),
            6 => format!("map (fn (a, b) => a - b) (zip {0} {0})", self.pull(depth)),
            _ => format!("iota {}", self.small()),
        };
        format!("({text})")
    }

    /// An array of integers outside of everything.
    fn ints(&mut self, depth: u8) -> String {
        if depth == 0 {
            return self.pull(1);
        }
        let depth = depth - 1;
        let text = match self.choose(14) {
            0 => format!("scan (+) 0 {}", self.ints(depth)),
            1 => format!("prescan max 0 {}", self.ints(depth)),
            2 => {
                let array = self.pull(depth);
                self.with(|this, [x]| format!("filter (fn {x} => {}) {array}", this.condition(depth)))
            }
            3 => format!("sort {}", self.ints(depth)),
            4 => format!("sortByKey {} {}", self.function(depth), self.ints(depth)),
            5 => format!("append {} {}", self.ints(depth), self.ints(depth)),
            6 => format!("iterate {} (map {}) {}", self.small(), self.function(depth), self.ints(depth)),
            7 => format!("histogram 5 (map (fn x => (x mod 5 + 5) mod 5) {})", self.ints(depth)),
            8 => format!("expand (fn x => abs x mod 3) (fn x i => x + i) {}", self.ints(depth)),
            9 => format!("map area [{}, {}]", self.shape(depth), self.shape(depth)),
            10 | 11 => self.comprehension(depth),
            12 => format!("force ({})", self.kernel()),
            _ => self.pull(depth),
        };
        format!("({text})")
    }

    fn comprehension(&mut self, depth: u8) -> String {
        let source = self.ints(depth);
        match self.choose(8) {
            0 => {
                let (x, key) = ("grouped", self.int(depth));
                let drawn = format!("{x} <- {source}, let key = ({key}) xor ({x} mod 3)");
                return format!("[ sum {x} + key * length {x} | {drawn}, group by key ]");
            }
            1 => {
                return self.with(|this, [x]| format!("[ {} | {x} <- {source}, distinct ]", this.int(depth)));
            }
            _ => {}
        }
        self.with(|this, [x, y]| {
            let mut qualifiers = format!("{x} <- {source}, {y} <- 0..3");
            for _ in 0..this.choose(3) {
                qualifiers += &match this.choose(4) {
                    0 => format!(", {}", this.condition(depth)),
                    1 => format!(", let {y} = {}", this.int(depth)),
                    2 => format!(", order by {} descending then {y}", this.int(0)),
                    _ => format!(", take {}", this.small()),
                };
            }
            format!("[ {} | {qualifiers} ]", this.int(depth))
        })
    }

    /// An array of the grid.
    fn kernel(&mut self) -> String {
        let size = 1 << self.choose(4);
        let source = format!("(iota {})", size * (1 + usize::from(self.choose(3))));
        match self.choose(5) {
            0 => format!("push <grid> (map {} {source})", self.function(2)),
            1 => format!("parts <block> {size} {} {source}", self.function(2)),
            2 => {
                let (block, half) = (self.block("part", size), self.choose(2) == 0);
                let count = format!("(length {source})");
                let place = match half {
                    true => format!("(fn part i => {count} - 1 - (part * {size} + i))"),
                    false => format!("(fn part i => i * ({count} div {size}) + part)"),
                };
                format!("splitUp {size} {source} |> map (fn part => {block}) |> interleave {count} {place}")
            }
            _ => {
                let block = self.block("part", size);
                format!("splitUp {size} {source} |> map (fn part => {block}) |> concat {size}")
            }
        }
    }

    /// An array of a block, as long as what it is made of.
    fn block(&mut self, part: &str, size: usize) -> String {
        match self.choose(9) {
            0 => format!("push <block> (map {} {part})", self.function(2)),
            1 => format!("push <block> (reverse (force (push <block> (map {} {part}))))", self.function(2)),
            2 => {
                let turn = self.small();
                format!(
                    "push <block> (let all = force (push <block> {part}) in generate {size} (fn i => index all ((i + {turn}) mod {size}) - index all i))"
                )
            }
            3 => {
                let (times, f) = (self.choose(4), self.function(2));
                format!(
                    "push <block> (power {times} (fn xs => push <block> (map {f} xs)) (push <block> {part}))"
                )
            }
            4 => format!("sklansky <block> (+) {part}"),
            5 => format!("koggeStone <block> max {part}"),
            6 if size > 1 => format!("parts <warp> 2 {} {part}", self.function(2)),
            7 if size > 1 => {
                let f = self.function(2);
                format!("splitUp 2 {part} |> map (fn two => parts <thread> 1 {f} two) |> concat 2")
            }
            _ => format!("mapPush {} (push <block> {part})", self.function(2)),
        }
    }
}
