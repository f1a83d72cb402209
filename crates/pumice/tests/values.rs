//! Programs as values: called inside others, saved and loaded, given to other threads, run asynchronously and on streams of data.

use pumice::kernel::{Grid, Ix, Pull, Push, apply};
use pumice::layers::array::{ArrayData, Error as ArrayError, HostData};
use pumice::layers::runtime::{Engine, devices::Sim};
use pumice::layers::scalar::ScalarType;
use pumice::{Compiled, Compiler, Error, MapStream, Place, Running, prelude::*};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

fn sim() -> pumice::Result<Compiler> {
    Compiler::on("sim")
}

/// The message of an error, and none of a success.
fn message<T>(result: pumice::Result<T>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn failures_of_a_called_program_name_the_place_where_it_was_written() -> pumice::Result<()> {
    let line = line!() + 1;
    let quotients = sim()?.compile(|xs: Acc<Vector<i64>>, by: Exp<i64>| xs.map(|x| x / by))?;
    let caller = sim()?.compile(|xs: Acc<Vector<i64>>| {
        let least = xs.clone().fold(9, |a, b| a.min(b));
        quotients.call((xs, least.the())).sum()
    })?;
    assert_eq!(caller.run([4, 2])?.to_value()?, 3);
    let found = caller.run([0, 2])?.to_value().err().map(|error| error.to_string()).unwrap_or_default();
    assert!(found.contains("division by zero") && found.contains(&format!("values.rs:{line}")), "{found}");
    Ok(())
}

#[test]
fn errors_tell_their_operation_place_and_what_to_do() -> pumice::Result<()> {
    let compiler = sim()?;
    let looked = |array: Vector<i32>| array.to_vec().expect_err("a failure");
    let line = line!();
    let divided = looked(compiler.run(use_([1, 0]).map(|x| 7 / x))?);
    let outside = looked(compiler.run(use_([9]).map(|i| [constant(1), constant(2)].at(i)))?);
    let reshaped = compiler.run(use_([1, 2, 3]).reshape((2, 2))).expect_err("three elements of four");
    let shape = Matrix::from_vec([2, 2], vec![1, 2, 3]).expect_err("three elements of four");
    let part = Vector::from([1, 2, 3]).slice(2..5).expect_err("three elements");
    let rows = Matrix::from_nested(vec![vec![1], vec![]]).expect_err("rows of different lengths");
    let file = Vector::<i32>::read_npy("no/such/file.npy").expect_err("no file");
    let device = ArrayError::Device(Arc::new(Error::Cancelled));
    let of_arrays = [
        (divided, "P0501", Some("division"), line + 1),
        (outside, "P0501", Some("at"), line + 2),
        (shape, "P0602", Some("from_vec"), line + 4),
        (part, "P0602", Some("slice"), line + 5),
        (rows, "P0602", Some("from_nested"), line + 6),
        (file, "P0604", Some("read_npy"), line + 7),
        (ArrayError::HostMemory { bytes: 7 }, "P0302", None, 0),
        (device, "P0404", None, 0),
        (ArrayError::Program("a mistake".into()), "P0603", None, 0),
    ];
    for (error, code, operation, line) in of_arrays {
        let place = error.place().map_or(0, |place| place.line());
        assert_eq!((error.code(), error.operation(), place), (code, operation, line), "{error}");
        assert!(error.help().len() > 20, "{error}: {}", error.help());
        let same = Error::from(error);
        assert_eq!((same.operation(), same.place().map_or(0, |place| place.line())), (operation, line));
    }
    let of_runs = [
        (reshaped, "P0601", Some("reshape"), line + 3),
        (Error::Invalid("a mistake".into()), "P0601", None, 0),
        (Error::Fault("a race".into()), "P0504", None, 0),
        (Compiler::on("gpu").err().unwrap_or(Error::Cancelled), "P0103", None, 0),
        (Error::Cancelled, "P0503", None, 0),
    ];
    for (error, code, operation, line) in of_runs {
        let place = error.place().map_or(0, |place| place.line());
        assert_eq!((error.code(), error.operation(), place), (code, operation, line), "{error}");
        assert!(error.help().len() > 20, "{error}: {}", error.help());
    }
    Ok(())
}

/// The system's error of a source, through all layers.
fn kind(error: &dyn std::error::Error) -> Option<std::io::ErrorKind> {
    Some(error.source()?.downcast_ref::<std::io::Error>()?.kind())
}

#[test]
fn errors_of_files_have_the_systems_error_as_their_source_and_print_it_once() -> pumice::Result<()> {
    let missing = Vector::<i32>::read_npy("no/such/file.npy").expect_err("no file");
    assert_eq!(kind(&missing), Some(std::io::ErrorKind::NotFound));
    let said = missing.to_string();
    let reason = std::error::Error::source(&missing).map(ToString::to_string).unwrap_or_default();
    assert_eq!((said.matches(&reason).count(), reason.is_empty()), (1, false), "{said}");
    let same = Error::from(missing);
    assert_eq!((kind(&same), same.to_string()), (Some(std::io::ErrorKind::NotFound), said));
    // Also where it is a device's error first.
    assert_eq!(kind(&ArrayError::Device(Arc::new(same))), Some(std::io::ErrorKind::NotFound));
    // A file that is there and no array has no other cause.
    let text = Vector::<i32>::read_npy(file!().trim_start_matches("crates/pumice/")).expect_err("no array");
    assert_eq!((kind(&text), text.to_string().contains("no NumPy file")), (None, true), "{text}");
    Ok(())
}

#[test]
fn errors_of_devices_name_the_operation_that_they_worked_for() -> pumice::Result<()> {
    let compiler = Compiler::with(Arc::new(Sim::with_memory(10_000)));
    let (large, line) = (vec![1i64; 2000], line!() + 1);
    let sorted = compiler.compile(|xs: Acc<Vector<i64>>| xs.sort())?;
    let error = sorted.run(&large).err().unwrap_or(Error::Cancelled);
    assert_eq!((error.code(), error.operation()), ("P0301", Some("argument")), "{error}");
    assert_eq!(error.place().map(|place| place.line()), Some(line), "{error}");
    // A kernel of the user's is what its memory is for.
    let kernel = compiler.kernel("reversed", 64, reversed)?;
    let error = kernel.run(&large).map(|result: Vector<i64>| result.len()).err().unwrap_or(Error::Cancelled);
    assert_eq!(error.place().map(|place| place.line()), Some(line + 5), "{error}");
    assert!(error.to_string().contains(&format!(" for {}", error.place().expect("a place"))), "{error}");
    Ok(())
}

#[test]
fn a_called_program_is_fused_with_its_caller() -> pumice::Result<()> {
    let doubled = sim()?.compile(|xs: Acc<Vector<f32>>| xs.map(|x| x + x))?;
    let sum = sim()?.compile(|xs: Acc<Vector<f32>>| doubled.call(doubled.call(xs)).sum())?;
    assert_eq!(sum.run([1.0, 2.0])?.to_value()?, 12.0);
    assert_eq!(sum.skeletons([1.0, 2.0])?.len(), 1);
    Ok(())
}

#[test]
fn a_program_cannot_be_called_for_each_element() -> pumice::Result<()> {
    let filled = sim()?.compile(|n: Exp<i64>| fill(n, 1i64).sum())?;
    let nested = sim()?.compile(|xs: Acc<Vector<i64>>| xs.map(|x| filled.call(x).the()));
    let found = message(nested);
    assert!(
        found.contains("no array is computed for each element") && found.contains("values.rs"),
        "{found}"
    );
    Ok(())
}

fn reversed(xs: Pull<i64, Ix>) -> Push<Grid, i64, Ix> {
    xs.reverse().push()
}

#[test]
fn what_no_text_says_cannot_be_saved() -> pumice::Result<()> {
    let kernel = sim()?.compile(|xs: Acc<Vector<i64>>| apply("turned", 64, reversed, (xs,)))?;
    let found = message(kernel.to_text());
    assert!(found.starts_with("`kernel` calls a Rust function") && found.contains("values.rs"), "{found}");
    // Also inside of a loop.
    let looped = sim()?.compile(|xs: Acc<Vector<i64>>| {
        iterate(2, xs, |xs| foreign(xs, |xs: &Vector<i64>| Some(xs.clone()), |xs| xs))
    })?;
    let found = message(looped.to_text());
    assert!(found.starts_with("`foreign` calls a Rust function") && found.contains("values.rs"), "{found}");
    struct Huge;
    impl ArrayData for Huge {
        fn extents(&self) -> &[usize] {
            &[1 << 40]
        }
        fn types(&self) -> &[ScalarType] {
            &[ScalarType::F32]
        }
        fn columns(&self) -> Result<Vec<Cow<'_, [u8]>>, ArrayError> {
            Err(ArrayError::HostMemory { bytes: 1 << 42 })
        }
    }
    let huge = Vector::<f32>::from_data(Arc::new(Huge))?;
    let found = message(sim()?.compile(|| use_(&huge).sum())?.to_text());
    assert!(found.contains("at most 16777216 elements") && found.contains("values.rs"), "{found}");
    Ok(())
}

#[test]
fn what_is_loaded_has_the_types_that_are_asked_for() -> pumice::Result<()> {
    fn program(
        xs: Acc<Matrix<f32>>,
        rows: AccRagged<i64>,
        y: Exp<f32>,
    ) -> (Acc<Vector<f32>>, AccRagged<i64>) {
        // A scalar inside of a loop only.
        (iterate(2, xs.sum(), |sums| sums.map(|x| x * y)), rows.map(|x| x + 1))
    }
    let compiler = sim()?;
    let text = compiler.compile(program)?.to_text()?;
    type Rows = AccRagged<i64>;
    type Given = (Acc<Vector<f32>>, Rows);
    let loaded = compiler.load::<(Acc<Matrix<f32>>, Rows, Exp<f32>), Given>(&text)?;
    let matrix = Matrix::from_vec([1, 2], vec![1.0, 2.0])?;
    let (sums, rows) = loaded.run((&matrix, &Ragged::from(vec![vec![1]]), 3.0))?;
    assert_eq!((sums.to_vec()?, rows.to_vecs()), (vec![27.0], vec![vec![2]]));
    let differing = [
        (
            message(compiler.load::<(Acc<Vector<f32>>, Rows, Exp<f32>), Given>(&text)),
            "parameter 0 is the array [_, _] (f32) in the text, and is loaded as the array [_] (f32): ",
        ),
        (
            message(compiler.load::<(Acc<Matrix<f32>>, Acc<Vector<i64>>, Exp<f32>), Given>(&text)),
            "where the rows of parameter 1 begin is the array [_] (i64) in the text, and there is no such parameter",
        ),
        (
            message(compiler.load::<(Acc<Matrix<f32>>, Rows, Exp<i32>), Given>(&text)),
            "parameter 2 is the scalar f32 in the text, and is loaded as the scalar i32: ",
        ),
        (
            message(compiler.load::<(Acc<Matrix<f32>>, Rows), Given>(&text)),
            "parameter 2 is the scalar f32 in the text, and there is no such parameter in the types that it is loaded as",
        ),
        (
            message(compiler.load::<(Exp<bool>, Rows, Exp<f32>), Given>(&text)),
            "parameter 0 is the array [_, _] (f32) in the text, and is loaded as the scalar bool: ",
        ),
        (
            message(compiler.load::<(Acc<Matrix<f32>>, Rows, Exp<f32>), Acc<Vector<f32>>>(&text)),
            "the program of the text gives 3 arrays, and is loaded as one that gives 1",
        ),
        (
            message(compiler.load::<(Acc<Matrix<f32>>, Rows, Exp<f32>), (Acc<Scalar<f32>>, Rows)>(&text)),
            "result 0 is the array [_] (f32) in the text, and is loaded as the array [] (f32): ",
        ),
        (message(compiler.load::<(), Acc<Scalar<f32>>>("a0: nonsense")), "line 1, column 5: expected"),
    ];
    for (found, expected) in differing {
        assert!(found.contains(expected), "{found}");
    }
    Ok(())
}

#[test]
fn programs_are_given_to_other_threads() -> pumice::Result<()> {
    fn is_shared<T: Send + Sync + 'static>() {}
    is_shared::<Compiled<(Acc<Vector<f32>>, Exp<f32>), (Acc<Scalar<f32>>, AccRagged<i64>)>>();
    is_shared::<Compiler>();
    is_shared::<Running<(Vector<f32>, Ragged<i64>)>>();
    is_shared::<MapStream<(Acc<Vector<f32>>,), Acc<Scalar<f32>>, std::vec::IntoIter<Vec<f32>>>>();

    let program = sim()?.compile(|xs: Acc<Vector<i64>>, n: Exp<i64>| (xs.clone().sum(), fill(n, 2i64)))?;
    let (sender, receiver) = mpsc::channel();
    for thread in 0..4i64 {
        let (program, sender) = (program.clone(), sender.clone());
        std::thread::spawn(move || {
            let found = program.run((&vec![thread; 100], thread));
            let found = found.and_then(|(sum, twos)| Ok((sum.to_value()?, twos.to_vec()?)));
            // Only a test that failed does not listen.
            let _ = sender.send((thread, found));
        });
    }
    drop((program, sender));
    let mut found: Vec<_> = receiver.into_iter().collect();
    found.sort_by_key(|(thread, _)| *thread);
    let expected: Vec<_> =
        (0..4).map(|thread| (thread, Ok((thread * 100, vec![2; thread as usize])))).collect();
    assert_eq!(found, expected);
    Ok(())
}

/// A loop over arrays that goes on until it is told to end, or cancelled, and counts its rounds.
struct Endless {
    program: Compiled<(Exp<i64>,), Acc<Scalar<i64>>>,
    rounds: Arc<AtomicUsize>,
    end: Arc<AtomicBool>,
}

fn endless() -> pumice::Result<Endless> {
    let (rounds, end) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (counted, ends) = (rounds.clone(), end.clone());
    let program = sim()?.compile(move |x: Exp<i64>| {
        let next = move |state: &Scalar<i64>| {
            counted.fetch_add(1, Ordering::SeqCst);
            let value = state.to_value().ok()?;
            let next = if ends.load(Ordering::SeqCst) { -1 } else { value + 1 };
            Scalar::from_vec([], vec![next]).ok()
        };
        awhile(unit(x), |state| state.map(|x| x.ge(0)), |state| foreign(state, next, |state| state))
    })?;
    Ok(Endless { program, rounds, end })
}

fn until(mut holds: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !holds() {
        if start.elapsed() > Duration::from_secs(60) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

#[test]
fn a_run_goes_on_while_others_do_something_else() -> pumice::Result<()> {
    let Endless { program, rounds, end } = endless()?;
    let run = program.run_async(0);
    assert!(until(|| rounds.load(Ordering::SeqCst) > 2));
    assert!(!run.is_done());
    end.store(true, Ordering::SeqCst);
    assert!(until(|| run.is_done()));
    assert_eq!(run.wait()?.to_value()?, -1);
    Ok(())
}

#[test]
fn what_is_cancelled_or_dropped_begins_nothing_more() -> pumice::Result<()> {
    let Endless { program, rounds, .. } = endless()?;
    let run = program.run_async(0);
    assert!(until(|| rounds.load(Ordering::SeqCst) > 2));
    run.cancel();
    assert_eq!(run.wait().err(), Some(Error::Cancelled));

    let run = program.run_async(0);
    let before = rounds.load(Ordering::SeqCst);
    assert!(until(|| rounds.load(Ordering::SeqCst) > before + 2));
    drop(run);
    // The round that is under way may come to its end.
    let settled = || {
        let before = rounds.load(Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(50));
        rounds.load(Ordering::SeqCst) == before
    };
    assert!(until(settled), "a run goes on after its handle was dropped");
    Ok(())
}

#[test]
fn a_function_that_panics_is_the_error_of_its_run() -> pumice::Result<()> {
    let program = sim()?.compile(|xs: Acc<Vector<i64>>| {
        foreign(
            xs,
            |xs: &Vector<i64>| panic!("{} elements are too many", xs.len()),
            |xs: Acc<Vector<i64>>| xs,
        )
    })?;
    assert_eq!(message(program.run_async([1, 2]).wait()), "a run panicked: 2 elements are too many");
    Ok(())
}

#[test]
fn a_future_is_ready_once() -> pumice::Result<()> {
    let program = sim()?.compile(|xs: Acc<Vector<i64>>| xs.sum())?;
    let mut run = program.run_async([1, 2]);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(until(|| run.is_done()));
    let mut poll = || Future::poll(std::pin::Pin::new(&mut run), &mut context);
    assert!(matches!(poll(), std::task::Poll::Ready(Ok(_))));
    assert!(matches!(poll(), std::task::Poll::Ready(Err(Error::Invalid(_)))));
    Ok(())
}

#[test]
fn workers_of_rayon_may_wait_for_runs_that_need_them() -> pumice::Result<()> {
    let sums = Compiler::on("cpu")?.compile(|n: Exp<i64>| generate(n, |i| i * i % 7).sum())?;
    let expected = (0..3_000_000i64).map(|i| i * i % 7).sum::<i64>();
    // Each worker of the pool waits at some time, and the runs' kernels want workers.
    let done = rayon::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..2 * rayon::current_num_threads() {
            let (sender, sums) = (sender.clone(), &sums);
            scope.spawn(move |_| {
                let _ = sender.send(sums.run_async(3_000_000).wait());
            });
        }
        receiver
    });
    let found = done.into_iter().map(|sum| Ok(sum?.to_value()?)).collect::<pumice::Result<Vec<i64>>>()?;
    assert!(found.len() >= 2 && found.iter().all(|sum| *sum == expected));
    Ok(())
}

/// An array that is counted as long as it lives.
struct Counted {
    data: HostData,
    living: Arc<AtomicUsize>,
}

impl ArrayData for Counted {
    fn extents(&self) -> &[usize] {
        self.data.extents()
    }
    fn types(&self) -> &[ScalarType] {
        self.data.types()
    }
    fn columns(&self) -> Result<Vec<Cow<'_, [u8]>>, ArrayError> {
        self.data.columns()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.living.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn a_stream_holds_no_more_than_the_chunks_in_flight() -> pumice::Result<()> {
    const LENGTH: usize = 1000;
    // Room for the input and the result of three chunks, and little else.
    let device = Arc::new(Sim::with_memory(3 * 2 * 8 * LENGTH + 1000));
    let (engine, compiler) = (Engine::of(device.clone()), Compiler::with(device));
    let program = compiler.compile(|xs: Acc<Vector<i64>>, n: Exp<i64>| xs.map(|x| 10 * x + 60 / n))?;
    let (living, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let chunk = |number: usize| {
        let count = living.fetch_add(1, Ordering::SeqCst) + 1;
        most.fetch_max(count, Ordering::SeqCst);
        let bytes = (0..LENGTH).flat_map(|i| ((number * LENGTH + i) as i64).to_le_bytes()).collect();
        let data = HostData::new(vec![LENGTH], vec![ScalarType::I64], vec![bytes]);
        let data = Arc::new(Counted { data, living: living.clone() });
        // One of them fails.
        (Vector::<i64>::from_data(data).expect("a vector"), if number == 7 { 0 } else { 1 })
    };
    for (number, result) in program.map_stream((0..20).map(chunk)).enumerate() {
        assert!(engine.memory_in_use() <= 3 * 2 * 8 * LENGTH + 1000);
        if number == 7 {
            assert!(message(result).contains("division by zero"));
            continue;
        }
        let expected: Vec<i64> = (0..LENGTH).map(|i| 10 * (number * LENGTH + i) as i64 + 60).collect();
        assert_eq!(result?.to_vec()?, expected);
    }
    assert!((2..=3).contains(&most.load(Ordering::SeqCst)), "{most:?} chunks at once");
    assert_eq!((living.load(Ordering::SeqCst), engine.memory_in_use()), (0, 0));

    // Who leaves early leaves nothing behind.
    let mut stream = program.map_stream((0..20).map(chunk));
    assert!(stream.next().is_some_and(|result| result.is_ok()));
    drop(stream);
    assert!(until(|| living.load(Ordering::SeqCst) == 0 && engine.memory_in_use() == 0));
    assert!(program.map_stream(std::iter::empty::<(Vec<i64>, i64)>()).next().is_none());
    Ok(())
}

#[test]
fn a_device_without_memory_says_what_is_used() -> pumice::Result<()> {
    let device = Arc::new(Sim::with_memory(10_000));
    let (engine, compiler) = (Engine::of(device.clone()), Compiler::with(device));
    let filled = compiler.compile(|n: Exp<i64>| fill(n, 1i64))?;
    let place = Place::new("fill", file!(), line!() - 1, 49);
    // Runs of other sizes leave memory in the pool, which is in the way of the next one.
    for length in [500, 700, 900, 1200] {
        assert_eq!(filled.run(length)?.to_vec()?.len(), length as usize);
    }
    let held = filled.run(500)?;
    let (bytes, in_use, limit) = (8000, Some(4000), Some(10_000));
    let full =
        Error::OutOfMemory { device: compiler.device().name(), bytes, in_use, limit, place: Some(place) };
    assert_eq!(
        full.to_string(),
        format!(
            "device `sim` is out of memory: it could not allocate 8000 bytes for {place}; 4000 of its 10000 bytes are in use by this \
             process"
        )
    );
    assert_eq!(filled.run(1000).err(), Some(full.clone()));
    assert_eq!(filled.run_async(1000).wait().err(), Some(full));
    // Copies of host arrays that are gone are in nobody's way.
    let sum = compiler.compile(|xs: Acc<Vector<i64>>| xs.sum())?;
    assert_eq!(sum.run(vec![1; 700])?.to_value()?, 700);
    assert_eq!(held.to_vec()?, [1; 500]);
    drop(held);
    assert_eq!(filled.run(1000)?.to_vec()?, [1; 1000]);
    assert_eq!(engine.memory_in_use(), 0);
    Ok(())
}
