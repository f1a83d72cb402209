//! The OpenCL device itself, with kernels that are written by hand.

use super::*;
use crate::device::LaunchParameter;
use pumice_program::Access;
use pumice_scalar::ScalarType;

const SUMS: &str = "
    __kernel void sums(__global float *z, __global const float *x, const long n, const float scale, const uchar on) {
        __local float part[64];
        for (long b = get_group_id(0); b * 64 < n; b += get_num_groups(0)) {
            long i = b * 64 + get_local_id(0);
            part[get_local_id(0)] = i < n && on ? x[i] * scale : 0.0f;
            for (int step = 32; step > 0; step /= 2) {
                barrier(CLK_LOCAL_MEM_FENCE);
                if (get_local_id(0) < step) part[get_local_id(0)] += part[get_local_id(0) + step];
            }
            if (get_local_id(0) == 0) z[b] = part[0];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }";

/// The device, unless there is none and nobody insists on one.
fn open() -> Option<OpenClDevice> {
    match choose().and_then(OpenClDevice::open) {
        Ok(device) => Some(device),
        Err(error) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{error}");
            eprintln!("not tested: {error}");
            None
        }
    }
}

fn sums(device: &OpenClDevice) -> Result<CompiledKernel> {
    let scalar = LaunchParameter::Scalar;
    let (buffer, long, float) =
        (LaunchParameter::Buffer(Access::ReadWrite), scalar(ScalarType::I64), scalar(ScalarType::F32));
    let parameters = vec![buffer, buffer, long, float, scalar(ScalarType::Bool)];
    let binary = device.compile("sums", SUMS, false, Effort::Full)?;
    device.load_entry(Signature { name: "sums".into(), threads: 64, parameters, stop: None }, "sums", &binary)
}

#[test]
fn blocks_run_with_shared_memory_and_barriers() -> Result<()> {
    let Some(device) = open() else { return Ok(()) };
    let kernel = sums(&device)?;
    for n in [0usize, 1, 64, 65, 1000] {
        let blocks = n.div_ceil(64);
        let (source, target) = (device.allocate(4 * n)?, device.allocate(4 * blocks)?);
        device.upload(&source, &1f32.to_le_bytes().repeat(n))?;
        device.zero(&target, 4 * blocks)?;
        let launch = || {
            let scalars = [LaunchArgument::Scalar((n as i64).into()), LaunchArgument::Scalar(2f32.into())];
            let arguments =
                [LaunchArgument::Memory(&target), LaunchArgument::Memory(&source), scalars[0], scalars[1]];
            unsafe {
                device.launch(
                    &kernel,
                    blocks as u64,
                    &[&arguments[..], &[LaunchArgument::Scalar(true.into())]].concat(),
                )
            }
        };
        let milliseconds = device.time(&mut || launch())?;
        assert!((0.0..60_000.0).contains(&milliseconds), "{milliseconds} ms");
        assert!(n == 0 || milliseconds > 0.0);
        let mut result = vec![0; 4 * blocks];
        device.download(&target, &mut result)?;
        for (block, bytes) in result.chunks_exact(4).enumerate() {
            let expected = 2.0 * (n - 64 * block).min(64) as f32;
            assert_eq!(bytes, expected.to_le_bytes(), "n = {n}, block {block}");
        }
    }
    Ok(())
}

#[test]
fn what_fails_is_an_error() -> Result<()> {
    let Some(device) = open() else { return Ok(()) };
    let Err(Error::Compiler { log, .. }) =
        device.compile("broken", "__kernel void broken( {", false, Effort::Full)
    else {
        panic!("accepted a broken source");
    };
    assert!(log.contains("error"), "{log}");
    let kernel = sums(&device)?;
    let refused = device.load_entry(kernel.signature().clone(), "sums", b"not a program");
    assert!(matches!(refused, Err(Error::Binary { .. })), "{refused:?}");
    let bytes = 1 << 50;
    assert_eq!(device.allocate(bytes).err(), Some(Error::out_of_memory(device.name(), bytes)));
    let other = DeviceMemory::new(DeviceId::new(DeviceName::of_kind("cpu")), 8, 0u64);
    assert!(matches!(device.upload(&other, &[0; 8]), Err(Error::WrongDevice { .. })));
    let own = device.allocate(8)?;
    assert!(matches!(device.copy(&own, &other, 8), Err(Error::WrongDevice { .. })));
    assert!(matches!(device.copy(&own, &device.allocate(4)?, 8), Err(Error::Invalid(_))));
    assert!(matches!(unsafe { device.launch(&kernel, 1, &[]) }, Err(Error::Launch { .. })));
    Ok(())
}

#[test]
fn a_device_that_is_not_there_is_an_error_with_those_that_are() {
    if open().is_none() {
        return;
    }
    let Err(Error::DeviceUnavailable { reason, .. }) = find::choose_by(Some("no such device".into())) else {
        panic!("opened a device that does not exist");
    };
    assert!(reason.starts_with("PUMICE_OPENCL_DEVICE=no such device fits none of "), "{reason}");
}

#[test]
fn pocl_takes_our_declarations() -> Result<()> {
    let Some(device) = open() else { return Ok(()) };
    sums(&device)?;
    let declares = device.declares.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(
        declares,
        device.platform == POCL,
        "PoCL of this version parses its own: pocl.h does not go with it"
    );
    Ok(())
}
