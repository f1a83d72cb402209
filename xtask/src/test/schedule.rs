//! Stages side by side: whatever may run does, in order, on as many threads as the machine has cores. Starts nothing itself.

use std::sync::{Condvar, Mutex, PoisonError};

use super::stages::{Action, BUILD, Stage};

/// Where a stage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    Done,
}

/// What a free thread does next.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Start(usize),
    Wait,
    Stop,
}

/// Runs all stages. `run` is called from `threads` threads; of those that run cargo one is under way at a time, and what needs
/// the build starts after it.
pub fn run_all(stages: &[&Stage], threads: usize, run: impl Fn(&Stage) + Sync) {
    let states = Mutex::new(vec![State::Waiting; stages.len()]);
    let has_changed = Condvar::new();
    let work = || {
        let mut held = states.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match next(stages, &held) {
                Next::Stop => return,
                Next::Wait => held = has_changed.wait(held).unwrap_or_else(PoisonError::into_inner),
                Next::Start(number) => {
                    held[number] = State::Running;
                    drop(held);
                    run(stages[number]);
                    held = states.lock().unwrap_or_else(PoisonError::into_inner);
                    held[number] = State::Done;
                    has_changed.notify_all();
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(work);
        }
    });
}

fn next(stages: &[&Stage], states: &[State]) -> Next {
    let all = || stages.iter().zip(states);
    let is_cargo = |stage: &Stage| matches!(stage.action, Action::Cargo(_));
    let cargo_runs = all().any(|(stage, state)| is_cargo(stage) && *state == State::Running);
    let is_built = all().all(|(stage, state)| stage.name != BUILD || *state == State::Done);
    let may_start = |(stage, state): (&&Stage, &State)| {
        *state == State::Waiting && !(is_cargo(stage) && cargo_runs) && (is_built || !stage.needs_build())
    };
    match all().position(may_start) {
        Some(number) => Next::Start(number),
        None if states.contains(&State::Waiting) => Next::Wait,
        None => Next::Stop,
    }
}

#[cfg(test)]
mod tests {
    use super::super::stages::{STAGES, choose};
    use super::*;

    #[test]
    fn every_stage_runs_once_and_cargo_never_twice_at_a_time() {
        let stages = choose(&[]).unwrap();
        for threads in [1, 2, 8] {
            let (begun, running) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
            run_all(&stages, threads, |stage| {
                begun.lock().unwrap().push(stage.name);
                let is_cargo = matches!(stage.action, Action::Cargo(_));
                if is_cargo {
                    running.lock().unwrap().push(stage.name);
                    assert_eq!(running.lock().unwrap().len(), 1);
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
                if is_cargo {
                    running.lock().unwrap().pop();
                }
            });
            let mut begun = begun.into_inner().unwrap();
            let place = |name: &str| begun.iter().position(|begun| *begun == name);
            assert!(place(BUILD) < place("conformance-cpu") && place(BUILD) < place("cuda-kernels"));
            begun.sort_unstable();
            let mut all: Vec<_> = STAGES.iter().map(|stage| stage.name).collect();
            all.sort_unstable();
            assert_eq!(begun, all);
        }
    }
}
