//! temp
fn main() {
    for device in ["cpu", "opencl", "sim"] {
        let d = pumice::layers::runtime::open(device).unwrap();
        let mut all: Vec<(usize, &str)> = pumice_testing::cases()
            .iter()
            .map(|c| (c.kernels(d.profile(), &Default::default()).unwrap().len(), c.name))
            .collect();
        all.sort();
        all.reverse();
        println!("{device} total {} {:?}", all.iter().map(|a| a.0).sum::<usize>(), &all[..25]);
        println!("unique {}", pumice_testing::suite::kernels(d.profile()).unwrap().len());
    }
}
