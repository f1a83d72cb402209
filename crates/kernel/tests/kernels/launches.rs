//! Kernels that skeletons make, launched on any device without an array program around them.
#![allow(dead_code)]

use pumice::layers::emit::{Dialect, EmitOptions, emit};
use pumice::layers::runtime::{CompiledKernel, Device, DeviceMemory, LaunchArgument, open};
use pumice_kernel::{Ix, Known, Passes, build, memory_parameter, ready, scalar_parameter};
use pumice_program::{Access, MemoryId, Param};
use pumice_scalar::{Constant, Exp, ScalarType};
use std::sync::Arc;

/// The devices that are here, of those that need no hardware of their own.
pub fn devices() -> Vec<Arc<dyn Device>> {
    let open = |name: &str| match open(name) {
        Ok(device) => Some(device),
        Err(error) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{error}");
            None
        }
    };
    let only = std::env::var("PUMICE_TEST_DEVICE").ok();
    let wanted = |name: &&str| only.as_ref().is_none_or(|only| only == name);
    ["sim", "cpu", "opencl"].into_iter().filter(wanted).filter_map(open).collect()
}

/// DeviceMemory of a device with elements of one type.
pub struct Column {
    pub ty: ScalarType,
    pub memory: DeviceMemory,
}

impl Column {
    /// DeviceMemory with these bytes.
    pub fn upload(device: &dyn Device, ty: ScalarType, bytes: &[u8]) -> Column {
        let memory = device.allocate(bytes.len().max(1)).expect("memory");
        device.upload(&memory, bytes).expect("an upload");
        Column { ty, memory }
    }

    /// DeviceMemory for so many elements.
    pub fn new(device: &dyn Device, ty: ScalarType, length: i64) -> Column {
        Column { ty, memory: device.allocate(length.max(1) as usize * ty.bytes()).expect("memory") }
    }

    /// DeviceMemory for so many elements, all zero.
    pub fn zeroed(device: &dyn Device, ty: ScalarType, length: i64) -> Column {
        let column = Column::new(device, ty, length);
        device.zero(&column.memory, length.max(1) as usize * ty.bytes()).expect("zeros");
        column
    }

    /// Its first elements.
    pub fn download(&self, device: &dyn Device, length: i64) -> Vec<u8> {
        let mut bytes = vec![0; length as usize * self.ty.bytes()];
        device.download(&self.memory, &mut bytes).expect("a download");
        bytes
    }
}

/// A kernel that is ready to be launched, with its arguments.
pub struct Launch<'a> {
    kernel: CompiledKernel,
    blocks: u64,
    arguments: Vec<LaunchArgument<'a>>,
}

impl Launch<'_> {
    /// Launches it.
    pub fn run(&self, device: &dyn Device) {
        // SAFETY: the kernel was built for these arguments.
        unsafe { device.launch(&self.kernel, self.blocks, &self.arguments) }.expect("a launch");
    }
}

/// Builds a kernel with these arguments: `describe` gets the memories and the numbers.
pub fn prepare<'a>(
    device: &dyn Device,
    name: &str,
    threads: u32,
    columns: &[(&'a Column, Access)],
    numbers: &[(&str, i64)],
    describe: impl FnOnce(&[MemoryId], &[Ix]),
) -> Launch<'a> {
    let kernel = build(name, threads, || {
        // SAFETY: these are bound below, in this order.
        let memories: Vec<MemoryId> = (0..)
            .zip(columns)
            .map(|(k, (column, access))| unsafe { memory_parameter(&format!("m{k}"), column.ty, *access) })
            .collect();
        let numbers: Vec<Ix> = numbers
            .iter()
            // SAFETY: as above.
            .map(|(name, _)| Exp::from_term(unsafe { scalar_parameter(name, ScalarType::I64) }))
            .collect();
        describe(&memories, &numbers);
    })
    .unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(kernel.program.failure.is_none(), "{name} can fail");
    let mut known = Known::default();
    let vars = kernel.program.params.iter().filter_map(|param| match param {
        Param::Scalar(var) => Some(*var),
        Param::Memory(_) => None,
    });
    for (var, (_, value)) in vars.zip(numbers) {
        known.integer(var, (*value).min(1).into(), (*value).into());
    }
    let ready = ready(kernel.program, device.profile(), Passes::default(), &known)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let memories = columns.iter().map(|(column, _)| LaunchArgument::Memory(&column.memory));
    let scalars = numbers.iter().map(|(_, value)| LaunchArgument::Scalar(Constant::from(*value)));
    let arguments = ready.bind(memories.chain(scalars), LaunchArgument::Scalar);
    let scalar = |argument: &LaunchArgument<'_>| match argument {
        LaunchArgument::Scalar(value) => Some(*value),
        LaunchArgument::Memory(_) => None,
    };
    let scalars: Vec<Constant> = arguments.iter().filter_map(scalar).collect();
    let blocks = ready.program.blocks_for(&scalars).expect("the number of blocks");
    if let Ok(dialect) = std::env::var("SHOW") {
        let dialect = if dialect == "c" { Dialect::C } else { Dialect::Cuda };
        println!("{}", emit(&ready.program, dialect, &EmitOptions::default()).expect("text").text);
    }
    let binary =
        device.build(&ready.program, &EmitOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    // SAFETY: the binary was built for this program just now.
    let kernel = unsafe { device.load(&ready.program, &binary) }.expect("a kernel");
    Launch { kernel, blocks, arguments }
}
