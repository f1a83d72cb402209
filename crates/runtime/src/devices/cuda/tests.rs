//! The shim over the driver, tested with a driver of our own that has no GPU; and the GPU itself where there is one.

use std::process::Command;

use libloading::{Library, Symbol};
use pumice_scalar::ScalarType;

use super::*;
use crate::device::LaunchParameter;
use crate::work::{Rounds, Test};
use pumice_program::Access;

/// Compiles the fake driver, and gives it to a test of this name.
fn with_fake_driver(name: &str, test: impl FnOnce(&str) -> Result<()>) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("pumice-fake-cuda-{name}-{}", std::process::id()));
    let (source, library) = (folder.join("fake.c"), folder.join("libfake.so"));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    std::fs::write(&source, include_str!("fake_driver.c")).expect("the fake driver's source");
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-w", "-o"]).arg(&library).arg(&source).status();
    assert!(compiled.expect("a C compiler").success());
    let result = test(&library.display().to_string());
    std::fs::remove_dir_all(&folder).expect("removing the temporary folder");
    result
}

fn signature() -> Signature {
    let scalar = LaunchParameter::Scalar;
    let kinds = [scalar(ScalarType::Bool), scalar(ScalarType::F32), scalar(ScalarType::I64)];
    let parameters = [LaunchParameter::Buffer(Access::ReadWrite)].into_iter().chain(kinds).collect();
    Signature { name: "fill".into(), threads: 128, parameters, stop: None }
}

fn fill(device: &CudaDevice, kernel: &CompiledKernel, blocks: u64, n: i64) -> Result<Vec<f64>> {
    let memory = device.allocate(8 * n as usize)?;
    device.zero(&memory, 8 * n as usize)?;
    let scalars = [
        LaunchArgument::Scalar(true.into()),
        LaunchArgument::Scalar(0.5f32.into()),
        LaunchArgument::Scalar(n.into()),
    ];
    let arguments = [&[LaunchArgument::Memory(&memory)], &scalars[..]].concat();
    let milliseconds = device.time(&mut || unsafe { device.launch(kernel, blocks, &arguments) })?;
    assert!((0.0..1000.0).contains(&milliseconds), "{milliseconds} ms");
    let mut bytes = vec![0; 8 * n as usize];
    device.download(&memory, &mut bytes)?;
    Ok(bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
}

#[test]
fn the_driver_is_called_as_it_wants() -> Result<()> {
    let Ok(nvrtc) = nvrtc::nvrtc() else { return Ok(()) };
    with_fake_driver("calls", |path| {
        // SAFETY: our own library, and a function that it defines with this type.
        let library = unsafe { Library::new(path) }.expect("the fake driver");
        let live: Symbol<unsafe extern "C" fn() -> i32> =
            unsafe { library.get(b"fake_live") }.expect("its function");
        let driver = Arc::new(Driver::open(&["libnothing.so", path])?);
        assert_eq!(driver.count(), 2);
        let device = CudaDevice::with(Gpu::open(driver.clone(), 0)?, nvrtc);
        assert!(
            device
                .description()
                .starts_with("Fake GPU (sm_90, 4 multiprocessors), driver for CUDA 12.8, NVRTC ")
        );
        assert_eq!((device.profile.threads, device.profile.busy_blocks), (256, 32));
        let kernel = device.load_entry(signature(), "fill", b"image", 0)?;
        assert_eq!(fill(&device, &kernel, 3, 5)?, [128_003_000.5; 5]);
        assert_eq!(fill(&device, &kernel, 0, 5)?, [0.0; 5]);
        assert!(fill(&device, &kernel, 1, 0)?.is_empty());
        // More blocks than a grid may have are looped over by the kernel.
        assert_eq!(fill(&device, &kernel, 1 << 40, 1)?, [128e6 + 1e3 * f64::from(i32::MAX) + 0.5]);
        // The context is current on the thread that opened it; others must get it too.
        let other = std::thread::scope(|scope| scope.spawn(|| fill(&device, &kernel, 1, 2)).join());
        assert_eq!(other.expect("no panic")?, [128_001_000.5; 2]);

        let cpu = DeviceId::new(DeviceName::of_kind("cpu"));
        let (one, other) = (device.allocate(8)?, device.allocate(6)?);
        device.upload(&one, b"abcdefgh")?;
        device.upload(&other, b"123456")?;
        device.copy(&one, &other, 3)?;
        device.copy(&other, &other, 6)?;
        device.copy(&one, &other, 0)?;
        let mut found = [0; 6];
        device.download(&other, &mut found)?;
        assert_eq!(&found, b"abc456");
        assert!(matches!(device.copy(&one, &other, 7), Err(Error::Invalid(_))));
        assert!(matches!(
            device.copy(&one, &DeviceMemory::new(cpu, 8, 0u8), 8),
            Err(Error::WrongDevice { .. })
        ));
        drop((one, other));

        let bytes = 1 << 50;
        assert_eq!(device.allocate(bytes).err(), Some(Error::out_of_memory(device.name(), bytes)));
        let Err(Error::Binary { reason, .. }) = device.load_entry(signature(), "fill", b"garbage", 0) else {
            panic!("loaded")
        };
        assert_eq!(reason, "cuModuleLoadData failed on device `cuda:0`: CUDA_ERROR_INVALID_IMAGE (code 200)");
        let Err(Error::Binary { reason, .. }) = device.load_entry(signature(), "other", b"image", 0) else {
            panic!("loaded")
        };
        assert!(reason.contains("an unknown error (code 500)"), "{reason}");
        let crowded = device.load_entry(Signature { threads: 2048, ..signature() }, "fill", b"image", 0)?;
        assert!(matches!(fill(&device, &crowded, 1, 1), Err(Error::Launch { .. })));
        let roomy = device.load_entry(signature(), "fill", b"image", 100_000)?;
        assert_eq!(fill(&device, &roomy, 1, 1)?, [1e20 + 128_001_000.5]);
        assert!(matches!(
            device.load_entry(signature(), "fill", b"image", 300_000),
            Err(Error::Binary { reason, .. }) if reason.starts_with("cuFuncSetAttribute failed")
        ));
        assert_eq!(device.profile.shared_bytes, 232_448);
        assert!(matches!(
            device.upload(&DeviceMemory::new(cpu, 1, 0u8), &[1]),
            Err(Error::WrongDevice { .. })
        ));

        let second = CudaDevice::with(Gpu::open(driver.clone(), 1)?, nvrtc);
        the_second_is_another(&device, &kernel, &second)?;
        let Err(Error::DeviceUnavailable { reason, .. }) = Gpu::open(driver.clone(), 2) else {
            panic!("opened a GPU that is not there")
        };
        assert_eq!(reason, "cuDeviceGet failed: an unknown error (code 101)");

        drop((kernel, crowded, roomy, device, second));
        // SAFETY: the function takes nothing and returns a number.
        assert_eq!(unsafe { live() }, 0, "something was not released");
        Ok(())
    })
}

/// Two GPUs of one driver: each has a context of its own, and refuses what is the other's.
fn the_second_is_another(first: &CudaDevice, kernel: &CompiledKernel, second: &CudaDevice) -> Result<()> {
    assert_eq!((first.name().to_string(), second.name().to_string()), ("cuda:0".into(), "cuda:1".into()));
    let own = second.load_entry(signature(), "fill", b"image", 0)?;
    assert_eq!(fill(second, &own, 3, 5)?, [128_003_000.5; 5]);
    let refusal = fill(second, kernel, 1, 1).err().map(|error| error.to_string());
    assert_eq!(refusal.as_deref(), Some("a kernel of device `cuda:0` was given to device `cuda:1`"));
    let (here, there) = (first.allocate(8)?, second.allocate(8)?);
    for refused in [
        second.upload(&here, &[0; 8]),
        second.download(&here, &mut [0; 8]),
        second.zero(&here, 8),
        second.copy(&here, &there, 8),
        first.copy(&here, &there, 8),
    ] {
        assert!(matches!(refused, Err(Error::WrongDevice { .. })), "{refused:?}");
    }

    // What waits for the GPU is counted: not launches, copies on the GPU and clearing.
    let before = (first.waits(), second.waits());
    let scalars = [true.into(), 0.5f32.into(), 1i64.into()].map(LaunchArgument::Scalar);
    let arguments = [&[LaunchArgument::Memory(&there)], &scalars[..]].concat();
    let copy = second.allocate(8)?;
    second.zero(&there, 8)?;
    // SAFETY: the memory holds the one element that the kernel is told of.
    unsafe { second.launch(&own, 1, &arguments) }?;
    second.copy(&there, &copy, 8)?;
    assert_eq!((first.waits(), second.waits()), before);
    second.upload(&there, &[0; 8])?;
    second.download(&there, &mut [0; 8])?;
    second.download(&there, &mut [])?;
    second.synchronize()?;
    second.time(&mut || Ok(()))?;
    drop(copy);
    assert_eq!((first.waits(), second.waits()), (before.0, before.1 + 6));
    Ok(())
}

#[test]
fn a_missing_or_foreign_library_is_an_error() {
    let Err(Error::DeviceUnavailable { reason, .. }) = Driver::open(&["libnothing.so.1", "libnothing.so"])
    else {
        panic!("opened a library that does not exist");
    };
    assert_eq!(reason, "NVIDIA's driver library was not found (looked for libnothing.so.1, libnothing.so)");
    if cfg!(target_os = "linux") {
        let Err(Error::DeviceUnavailable { reason, .. }) = Driver::open(&["libm.so.6"]) else {
            panic!("opened libm")
        };
        assert_eq!(reason, "NVIDIA's driver library is too old: it has no function cuGetErrorName");
    }
}

#[test]
fn a_gpu_computes_where_there_is_one() -> Result<()> {
    let device = match CudaDevice::open(0) {
        Ok(device) => device,
        Err(error) => {
            eprintln!("not tested: {error}");
            return Ok(());
        }
    };
    let source = "extern \"C\" __global__ void fill(double* z, unsigned char on, float a, long long n) {
        long long i = blockIdx.x * 128ll + threadIdx.x;
        if (on == 1 && i < n) z[i] = a + i;
    }";
    let binary = device.nvrtc.compile(
        "fill",
        source,
        device.gpu.facts().architecture,
        false,
        pumice_emit::Effort::Full,
    )?;
    let kernel = device.load_entry(signature(), "fill", &binary, 0)?;
    for n in [0, 1, 128, 129, 1000] {
        let expected: Vec<f64> = (0..n).map(|i| i as f64 + 0.5).collect();
        assert_eq!(fill(&device, &kernel, (n as u64).div_ceil(128), n)?, expected);
    }
    let bytes = 1 << 50;
    assert_eq!(device.allocate(bytes).err(), Some(Error::out_of_memory(device.name(), bytes)));
    Ok(())
}

/// Returns the signature of the fake driver's `count`.
fn count_signature() -> Signature {
    let parameters = [Access::Read, Access::Write, Access::Write].map(LaunchParameter::Buffer).to_vec();
    Signature { name: "count".into(), threads: 1, parameters, stop: None }
}

fn count<'a>(kernel: &'a Arc<CompiledKernel>, memories: [&'a DeviceMemory; 3]) -> Work<'a> {
    Work::Launch { kernel, blocks: 1, arguments: memories.map(LaunchArgument::Memory).to_vec(), of: None }
}

#[test]
fn work_that_comes_again_and_loops_are_graphs() -> Result<()> {
    let Ok(nvrtc) = nvrtc::nvrtc() else { return Ok(()) };
    with_fake_driver("graphs", |path| {
        // SAFETY: our own library, and functions that it defines with this type.
        let library = unsafe { Library::new(path) }.expect("the fake driver");
        let [live, started, cleared] = [&b"fake_live"[..], b"fake_started", b"fake_cleared"].map(|name| {
            let function: Symbol<unsafe extern "C" fn() -> i32> =
                unsafe { library.get(name) }.expect("its function");
            // SAFETY: the functions take nothing and return a number.
            move || unsafe { function() }
        });
        let device = CudaDevice::with(Gpu::open(Arc::new(Driver::open(&[path])?), 0)?, nvrtc);
        let kernel = Arc::new(device.load_entry(count_signature(), "count", b"image", 0)?);
        let memory = |value: i64| {
            let memory = device.allocate(8)?;
            device.upload(&memory, &value.to_le_bytes())?;
            Ok::<_, Error>(memory)
        };
        let value = |memory: &DeviceMemory| {
            let mut bytes = [0; 8];
            device.download(memory, &mut bytes)?;
            Ok::<_, Error>(i64::from_le_bytes(bytes))
        };
        let [one, two, three, on] = [memory(9)?, memory(0)?, memory(0)?, memory(0)?];
        let memo = Memo::default();
        for (round, graphs) in [(1, 0), (2, 1), (3, 2)] {
            let copy = Work::Copy { from: &three, to: &one, bytes: 8 };
            let work = [count(&kernel, [&one, &two, &on]), count(&kernel, [&two, &three, &on]), copy];
            // SAFETY: the kernel is given what it takes.
            unsafe { device.perform(&work, &memo)? };
            assert_eq!((value(&one)?, started()), (9 - 2 * round, graphs));
        }
        // Other memory is other work.
        let copy = || [Work::Zero { memory: &one, bytes: 8 }, Work::Copy { from: &one, to: &two, bytes: 8 }];
        for graphs in [2, 3] {
            // SAFETY: there is no kernel.
            unsafe { device.perform(&copy(), &memo)? };
            assert_eq!((value(&two)?, started()), (0, graphs));
        }

        // Of four small clearings three are one launch, and the copy comes after them.
        let several = || {
            let clear = |memory| Work::Zero { memory, bytes: 8 };
            let copy = Work::Copy { from: &three, to: &one, bytes: 8 };
            [clear(&one), clear(&two), clear(&three), clear(&on), copy]
        };
        for clearings in [0, 3] {
            for memory in [&one, &two, &three, &on] {
                device.upload(memory, &7i64.to_le_bytes())?;
            }
            // SAFETY: there is no kernel.
            unsafe { device.perform(&several(), &memo)? };
            let values = [value(&one)?, value(&two)?, value(&three)?, value(&on)?];
            assert_eq!((values, cleared()), ([0; 4], clearings));
        }

        for (rounds, failed, left) in [(0, 0, 0), (1, 0, 0), (2, 0, 0), (7, 0, 0), (7, 256, 7)] {
            let [first, second, record] = [memory(rounds)?, memory(0)?, memory(failed)?];
            let [at_first, at_second] = [memory(rounds.min(1))?, memory(0)?];
            let failures = [None, Some(&record)];
            let work = || {
                [Work::Rounds(Rounds {
                    at_first: Test { condition: &at_first, failures },
                    there: vec![count(&kernel, [&first, &second, &at_second])],
                    at_second: Test { condition: &at_second, failures },
                    back: vec![count(&kernel, [&second, &first, &at_first])],
                    settle: vec![Work::Copy { from: &second, to: &first, bytes: 8 }],
                })]
            };
            let before = started();
            // SAFETY: the kernel is given what it takes.
            unsafe { device.perform(&work(), &Memo::default())? };
            assert_eq!((value(&first)?, started() - before), (left, 1));
            device.upload(&first, &rounds.to_le_bytes())?;
            device.upload(&at_first, &rounds.min(1).to_le_bytes())?;
            // SAFETY: as above.
            unsafe { work::in_order(&device, &work(), &|| Ok(()))? };
            assert_eq!(value(&first)?, left, "piece by piece");
        }

        // A transfer in several pieces and lanes.
        let bytes: Vec<u8> = (0..(11 << 20) + 7).map(|i| (i * 7 + i / 1000) as u8).collect();
        let (large, mut found) = (device.allocate(bytes.len())?, vec![0; bytes.len()]);
        device.upload(&large, &bytes)?;
        device.download(&large, &mut found)?;
        assert!(found == bytes);
        // Parts of it, small and in several pieces.
        for part in [5..77, (1 << 20) + 3..bytes.len()] {
            let found = &mut found[..part.len()];
            device.download_from(&large, part.start, found)?;
            assert!(*found == bytes[part]);
        }
        assert!(device.download_from(&large, bytes.len(), &mut [0]).is_err());
        assert!(device.download_from(&large, usize::MAX, &mut [0]).is_err());

        // Memory that the GPU reaches by itself is read and written as any other.
        found.fill(0);
        // SAFETY: dropped before the memory is.
        let pin = unsafe { device.pin(&mut found) };
        assert!(pin.is_some());
        device.download(&large, &mut found)?;
        assert_eq!(found, bytes);
        device.download_from(&large, 7, &mut found[..2 << 20])?;
        assert!(found[..2 << 20] == bytes[7..(2 << 20) + 7]);
        found.copy_from_slice(&bytes);
        found.reverse();
        device.upload(&large, &found)?;
        drop(pin);
        device.download(&large, &mut found)?;
        assert!(found.iter().eq(bytes.iter().rev()));
        drop((one, two, three, on, large, memo, kernel, device));
        assert_eq!(live(), 0, "something was not released");
        Ok(())
    })
}
