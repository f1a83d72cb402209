//! Runs random programs on one device, many at a time: plans all, builds all their kernels, then executes and compares.

use super::compare::PlannedArrays;
use super::ir::PlannedKernel;
use super::recipe::{Kind, Recipe};
use crate::harness::Outcome;
use crate::suite::guarded;
use pumice::layers::program::Verified;
use pumice::layers::runtime::{CompiledKernel, EmitOptions, Engine, open};
use std::sync::Arc;

/// Runs random programs on a device.
pub struct Runner {
    engine: Arc<Engine>,
}

/// A program that is planned for a device.
enum Planned {
    Arrays(Box<PlannedArrays>),
    Kernel(Box<PlannedKernel>),
}

impl Planned {
    fn new(recipe: &Recipe, engine: &Engine) -> Result<Planned, String> {
        Ok(match recipe.kind {
            Kind::Arrays => Planned::Arrays(Box::new(PlannedArrays::new(&recipe.bytes, engine)?)),
            Kind::Kernel => Planned::Kernel(Box::new(PlannedKernel::new(&recipe.bytes, engine)?)),
        })
    }

    /// Returns the kernels that it launches.
    fn programs(&self) -> Vec<&Verified> {
        match self {
            Planned::Arrays(planned) => planned.plan.launches().map(|launch| &*launch.program).collect(),
            Planned::Kernel(planned) => vec![&*planned.program],
        }
    }

    fn agrees(&self, engine: &Arc<Engine>, kernels: &[Built]) -> Outcome {
        let kernels: Vec<&Arc<CompiledKernel>> =
            kernels.iter().map(Result::as_ref).collect::<Result<_, _>>()?;
        match (self, &kernels[..]) {
            (Planned::Arrays(planned), _) => planned.agrees(engine),
            (Planned::Kernel(planned), [kernel]) => planned.agrees(engine, kernel),
            (Planned::Kernel(_), _) => Err("its kernel is missing".into()),
        }
    }
}

/// A kernel, or its compiler's error.
type Built = Result<Arc<CompiledKernel>, String>;

impl Runner {
    /// Returns a runner on the device with this name.
    pub fn on(device: &str) -> pumice::Result<Runner> {
        Ok(Runner { engine: Engine::of(open(device)?) })
    }

    /// Runs programs, and returns the outcome of each. A panic is a failure too.
    ///
    /// ```
    /// use pumice_testing::random::{Recipe, Runner};
    /// let recipes: Vec<Recipe> = (0..4).map(|number| Recipe::from_seed(7, number)).collect();
    /// assert_eq!(Runner::on("sim")?.run(&recipes), [Ok(()), Ok(()), Ok(()), Ok(())]);
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn run(&self, recipes: &[Recipe]) -> Vec<Outcome> {
        let plan = |recipe: &Recipe| guarded(|| Planned::new(recipe, &self.engine));
        let planned: Vec<Result<Planned, String>> = recipes.iter().map(plan).collect();
        let programs: Vec<Vec<&Verified>> =
            planned.iter().map(|planned| planned.as_ref().map_or(Vec::new(), Planned::programs)).collect();
        let mut kernels = self.build_all(&programs.concat()).into_iter();
        let run = |(planned, programs): (&Result<Planned, String>, &Vec<&Verified>)| {
            let own: Vec<Built> = kernels.by_ref().take(programs.len()).collect();
            let planned = planned.as_ref().map_err(Clone::clone)?;
            guarded(|| planned.agrees(&self.engine, &own))
        };
        planned.iter().zip(&programs).map(run).collect()
    }

    /// Compiles kernels together, or one by one if that fails, so that each error belongs to its program.
    fn build_all(&self, programs: &[&Verified]) -> Vec<Built> {
        let (device, options) = (&**self.engine.device(), EmitOptions::default());
        let kernels = self.engine.kernels();
        let together = guarded(|| {
            let programs: Vec<_> = programs.iter().map(|program| (*program, None)).collect();
            let built = kernels.get_or_build_all(device, &programs, &options, || Ok(()));
            built.map_err(|error| error.to_string())
        });
        if let Ok(built) = together {
            return built.into_iter().map(Ok).collect();
        }
        let build = |program: &&Verified| {
            guarded(|| {
                let kernel = kernels.get_or_build(device, program, &program.key_text(), &options);
                kernel.map_err(|error| error.to_string())
            })
        };
        programs.iter().map(build).collect()
    }
}
