//! Skeletons of users in place of ours: the same results, by other kernels.

use pumice::kernel::skeletons::{FoldRows, Skeletons, fold_skeleton, write_skeleton};
use pumice::kernel::{Block, Dynamic, Grid, Ix, Profile, Pull, Push, block_threads, seq_for};
use pumice::prelude::*;
use pumice::{Compiler, Result};

fn compilers() -> Vec<Compiler> {
    ["sim", "cpu"].into_iter().filter_map(|name| Compiler::on(name).ok()).collect()
}

/// One block a row: every thread takes a stretch of neighbours, and a plain tree reduces what they have.
fn tree(fold: FoldRows, _: &Profile) -> Push<Grid, Dynamic, Ix> {
    let FoldRows { matrix, columns, operator, neutral, .. } = fold;
    let threads = block_threads() as usize;
    let stretch = (columns + (threads as i64 - 1)) / threads as i64;
    let row = move |row: Pull<Dynamic, Ix>| {
        let (combine, neutral) = (operator.clone(), neutral.clone());
        let partial = Pull::<Dynamic>::new(threads, move |thread| {
            let start = thread * stretch;
            let own = (columns - start).min(stretch);
            seq_for::<Dynamic>(own, 1, neutral.clone(), |sum, i| combine(sum, row.at(start + i)))
        });
        let mut xs = partial.push::<Block>().force();
        while xs.len() > 1 {
            let operator = operator.clone();
            xs = xs.pair_with(move |a, b| operator(a, b)).push::<Block>().force();
        }
        xs.push::<Block>()
    };
    matrix.map(row).concat()
}

trait PairWith {
    fn pair_with(
        self,
        f: impl Fn(pumice::kernel::Scalars, pumice::kernel::Scalars) -> pumice::kernel::Scalars + 'static,
    ) -> Self;
}

impl PairWith for Pull<Dynamic> {
    /// Neighbours, combined: half as many.
    fn pair_with(
        self,
        f: impl Fn(pumice::kernel::Scalars, pumice::kernel::Scalars) -> pumice::kernel::Scalars + 'static,
    ) -> Self {
        let (even, odd) = self.even_odds();
        even.zip_with(odd, f)
    }
}

fn with_tree(compiler: Compiler) -> Compiler {
    compiler.skeletons(Skeletons { fold: Some(fold_skeleton("tree", 32, tree)), ..Skeletons::default() })
}

#[test]
fn a_users_fold_gives_the_same_as_ours() -> Result<()> {
    // An operator that does not commute, on pairs: composition of x * a + b.
    let composed =
        |m: Acc<Matrix<(i64, i64)>>| m.fold((1, 0), |(a, b), (c, d)| (a * c, b * c + d)).map(|(a, b)| a + b);
    for compiler in compilers() {
        let (theirs, ours) = (with_tree(compiler.clone()).compile(composed)?, compiler.compile(composed)?);
        for (rows, columns) in [(0, 3), (1, 0), (1, 1), (3, 7), (2, 100), (5, 64), (1, 5000)] {
            let value = |i: usize| ((i % 3) as i64 - 1, (i * 7 % 11) as i64);
            let m = Matrix::from_vec([rows, columns], (0..rows * columns).map(value).collect())?;
            let (found, expected) = (theirs.run(&m)?.to_vec()?, ours.run(&m)?.to_vec()?);
            assert_eq!(found, expected, "{rows} x {columns} on {}", compiler.device().name());
        }
        let m = Matrix::from_vec([3, 100], vec![(1, 1); 300])?;
        let plan = theirs.plan(&m)?;
        assert!(plan.to_string().contains("launch tree("), "{plan}");
        assert!(plan.to_string().contains("by tree"), "{plan}");
        let launches = theirs.skeletons(&m)?;
        assert_eq!(launches.len(), 1);
        assert_eq!((launches[0].skeleton.as_str(), launches[0].program.threads), ("tree", 32));
        assert!(
            launches[0].program.to_string().contains("folded by skeleton tree"),
            "{}",
            launches[0].program
        );
        assert!(theirs.explain(&m)?.contains("kernel tree"));
        assert!(ours.explain(&m)?.contains("by fold"));
    }
    Ok(())
}

#[test]
fn a_users_way_to_write_gives_the_same_as_ours() -> Result<()> {
    let skeleton = write_skeleton("by_three", 32, |xs: Pull<Dynamic, Ix>, _: &Profile| {
        let n = xs.len();
        xs.tiles(96).map(|tile| tile.push_by::<Block>(3)).concat_by(96, n)
    });
    let skeletons = Skeletons { write: Some(skeleton), ..Skeletons::default() };
    let program = |m: Acc<Matrix<f32>>| m.transpose().map(|x| x * 2.0);
    for compiler in compilers() {
        let theirs = compiler.clone().skeletons(skeletons.clone()).compile(program)?;
        let ours = compiler.compile(program)?;
        for (rows, columns) in [(0, 1), (1, 1), (3, 5), (64, 33)] {
            let m = Matrix::from_vec([rows, columns], (0..rows * columns).map(|i| i as f32).collect())?;
            assert_eq!(theirs.run(&m)?.to_vec()?, ours.run(&m)?.to_vec()?);
        }
        let m = Matrix::from_vec([2, 2], vec![1.0; 4])?;
        assert_eq!(theirs.skeletons(&m)?[0].skeleton, "by_three");
    }
    Ok(())
}

#[test]
fn a_skeleton_that_goes_wrong_is_an_error() -> Result<()> {
    let outside = write_skeleton("outside", 32, |xs: Pull<Dynamic, Ix>, _: &Profile| {
        let n = xs.len();
        Pull::new(n + 1, move |i| xs.at(i.min(n - 1))).push()
    });
    let crowded = write_skeleton("crowded", 1 << 20, |xs: Pull<Dynamic, Ix>, _: &Profile| xs.push());
    for compiler in compilers() {
        let run = |skeleton: &std::sync::Arc<_>| {
            let skeletons =
                Skeletons { write: Some(std::sync::Arc::clone(skeleton)), ..Skeletons::default() };
            let result = compiler.clone().skeletons(skeletons).run(use_([1, 2, 3]).map(|x| x + 1));
            result.and_then(|array| Ok(array.to_vec()?)).err().map(|e| e.to_string()).unwrap_or_default()
        };
        let error = run(&outside);
        assert!(error.starts_with("index 3 out of bounds for length 3 in skeleton at "), "{error}");
        let error = run(&crowded);
        assert!(error.contains("skeleton `crowded` has 1048576 threads"), "{error}");
    }
    Ok(())
}
