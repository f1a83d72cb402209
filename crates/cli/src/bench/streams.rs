//! Workloads of data that streams from the host and back to it, chunk after chunk: prices of options by `map_stream`, and for comparison
//! copies of the same bytes alone, in each direction.

use super::inputs::uniform;
use super::reference::{self, check, check_length};
use super::timing::Timing;
use super::workloads::Workload;
use pumice::layers::array::prefer_large_pages;
use pumice::layers::runtime::{Device, DeviceMemory};
use pumice::prelude::*;
use pumice_testing::programs;

/// Vectors per chunk that are copied to the device, and back to the host.
const TO_DEVICE: usize = 3;
const TO_HOST: usize = 2;

/// Returns the workloads for this many chunks of this many options.
pub fn workloads(chunks: usize, options: usize) -> Vec<Workload> {
    let copies = |way: &str, vectors: usize, copy: Copy| {
        let (name, n) = (format!("stream {way} {chunks}x{options}"), chunks * options);
        let bytes = 4 * options;
        Workload::new(name, n, vectors * chunks * bytes, move |timing| {
            copied(timing, vectors, chunks, bytes, copy)
        })
    };
    let upload: Copy = |device, memory, host| device.upload(memory, host);
    let download: Copy = |device, memory, host| device.download(memory, host);
    vec![
        black_scholes(chunks, options),
        copies("upload", TO_DEVICE, upload),
        copies("download", TO_HOST, download),
    ]
}

type Copy = fn(&dyn Device, &DeviceMemory, &mut [u8]) -> pumice::Result<()>;

/// Copies all vectors of all chunks between the host and the device, which uses the same memory for each chunk. On the host every vector
/// has memory of its own, as those of the stream have: a vector that was copied just before would be in a cache.
fn copied(timing: &Timing, vectors: usize, chunks: usize, bytes: usize, copy: Copy) -> Result<f64, String> {
    let device = timing.compiler().device();
    let memory = || device.allocate(bytes);
    let memories = (0..vectors).map(|_| memory()).collect::<pumice::Result<Vec<_>>>().map_err(told)?;
    // All memory has been written before, so that page faults on the first access are not timed.
    let mut host: Vec<_> = (0..chunks * vectors).map(|_| touched(bytes)).collect();
    let mut run = || -> pumice::Result<()> {
        for (host, memory) in host.iter_mut().zip(memories.iter().cycle()) {
            copy(&**device, memory, host)?;
        }
        device.synchronize()
    };
    timing.median_of_few(|| device.synchronize().map_err(told), |()| run().map_err(told))
}

/// Allocates host memory in large pages, as arrays are.
fn touched(bytes: usize) -> Vec<u8> {
    let mut memory = Vec::with_capacity(bytes);
    prefer_large_pages(memory.as_mut_ptr(), bytes);
    memory.resize(bytes, 1);
    memory
}

fn told(error: impl ToString) -> String {
    error.to_string()
}

/// Number of chunks with different contents: each takes the same vectors in another order.
const DIFFERENT: usize = 3;

fn black_scholes(chunks: usize, options: usize) -> Workload {
    let n = chunks * options;
    let bytes = 4 * (TO_DEVICE + TO_HOST) * n;
    Workload::new(format!("stream black-scholes {chunks}x{options}"), n, bytes, move |timing| {
        let numbers = [0, 1, 2].map(|stream| uniform(options, stream));
        let of_chunk = |chunk: usize| [0, 1, 2].map(|place| &numbers[(chunk + place) % DIFFERENT]);
        // New arrays for every run: the device keeps copies of those that live on.
        let chunk = |chunk: usize| {
            let [x, y, z] = of_chunk(chunk).map(|numbers| Vector::from(numbers.as_slice()));
            (x, y, z)
        };
        let make = |chunks: usize| (0..chunks).map(chunk).collect::<Vec<_>>();
        let program = timing.compiler().compile(programs::black_scholes_scaled).map_err(told)?;
        for (chunk, found) in program.map_stream(make(DIFFERENT.min(chunks))).enumerate() {
            let found = found.map_err(told)?.to_vec().map_err(told)?;
            check_length(&found, options)?;
            let [x, y, z] = of_chunk(chunk);
            found.iter().enumerate().try_for_each(|(i, (call, put))| {
                let expected = reference::black_scholes(x[i], y[i], z[i]);
                check(&format!("call {i} of chunk {chunk}"), *call, 5e-5, expected.0)?;
                check(&format!("put {i} of chunk {chunk}"), *put, 5e-5, expected.1)
            })?;
        }
        timing.median_of_few(
            || Ok(make(chunks)),
            |inputs| {
                let mut results = program.map_stream(inputs);
                let count = results.try_fold(0, |count, found| found.map(|found| count + found.len()));
                match count.map_err(told)? {
                    count if count == n => Ok(()),
                    count => Err(format!("{count} prices came, expected {n}")),
                }
            },
        )
    })
}
