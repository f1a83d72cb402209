//! Latency of the language server: from a key that is pressed in a file of 5,000 lines to its diagnostics, and of other answers.
//! `cargo run --release -p pumice-lsp --example latency`

#[path = "../tests/client/mod.rs"]
mod client;

use client::{Client, uri};
use lsp_types::request::{Completion, DocumentSymbolRequest, HoverRequest, SemanticTokensFullRequest};
use lsp_types::{Position, Range};
use serde_json::json;
use std::time::{Duration, Instant};

/// A part of a program: kernels, functions without levels, records, sums and comprehensions, some without a signature.
fn part(number: usize) -> String {
    format!(
        "-- Part {number}.
type Shape{number} = Circle{number} f64 | Square{number} f64
type Point{number} = {{ x{number} : f64, y{number} : f64 }}

sig rev{number} : int -> [a] -> [a]<grid>
fun rev{number} chunkSize arr =
  splitUp chunkSize arr
  |> map (fn chunk => push <block> (reverse chunk))
  |> reverse
  |> concat chunkSize

fun area{number} shape =
  case shape of
  | Circle{number} r => 3.0 * r * r
  | Square{number} side => side * side

fun norm{number} p =
  let x = p.x{number} * p.x{number}
      y = p.y{number} * p.y{number}
  in sqrt (x + y)

fun dotp{number} xs ys = sum (zipWith (fn x y => x * y) xs ys)
fun pairs{number} n = [ (i, j) | i <- 0..n, j <- 0..i, i + j < n ]
fun total{number} shapes = sum (map area{number} shapes) + {previous}
",
        previous = if number == 0 { "0.0".to_string() } else { format!("total{} []", number - 1) }
    )
}

fn shown(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    println!("{name:<32}{:8.1} ms{:8.1} ms at worst", milliseconds(median), milliseconds(worst));
}

fn main() {
    let mut text = String::new();
    for number in 0.. {
        if text.lines().count() >= 5_000 {
            break;
        }
        text.push_str(&part(number));
        text.push('\n');
    }
    let lines = text.lines().count() as u32;
    println!("{lines} lines, {} bytes", text.len());
    let mut client = Client::start();
    let file = uri("large.pum");
    client.open(&file, &text);
    assert!(client.diagnostics(&file).is_empty(), "{:?}", client.diagnostics(&file));
    // A letter is typed in a function in the middle, and removed.
    let line = text
        .lines()
        .take(2_500)
        .collect::<Vec<_>>()
        .iter()
        .rposition(|line| line.contains("sqrt"))
        .unwrap_or(0);
    let at = Position::new(line as u32, 5);
    let behind = Position::new(line as u32, 6);
    let (mut wrong, mut right) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        let before = Instant::now();
        client.change(&file, Some(Range::new(at, at)), "x");
        assert!(!client.diagnostics(&file).is_empty());
        wrong.push(before.elapsed());
        let before = Instant::now();
        client.change(&file, Some(Range::new(at, behind)), "");
        assert!(client.diagnostics(&file).is_empty());
        right.push(before.elapsed());
    }
    shown("a key to a mistake", wrong);
    shown("a key to none", right);
    let mut ask = |name: &str, of: &mut dyn FnMut(&mut Client)| {
        let times = (0..5).map(|_| {
            client.change(&file, Some(Range::new(at, at)), "");
            let before = Instant::now();
            of(&mut client);
            before.elapsed()
        });
        shown(name, times.collect());
    };
    ask("hover, after a key", &mut |client| drop(client.ask_at::<HoverRequest>(&file, at)));
    ask("completion, after a key", &mut |client| drop(client.ask_at::<Completion>(&file, at)));
    let document = json!({ "textDocument": { "uri": file } });
    ask("tokens, after a key", &mut |client| drop(client.ask::<SemanticTokensFullRequest>(document.clone())));
    ask("outline, after a key", &mut |client| drop(client.ask::<DocumentSymbolRequest>(document.clone())));
    client.stop();
}
