//! Runs on a device and queue that the application has opened and shares with other work:
//! `cargo run --release --example own_device`.
#![allow(clippy::print_stdout, reason = "an example reports to the terminal")]

use partition_dpp::{
    Error, Features, Partition, PartitionDpp, Quota,
    engine::gpu::{Gpu, GpuOptions},
    map::{Greedy, Solver},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle().with_env());
    let request = instance.request_adapter(&wgpu::RequestAdapterOptions::default());
    let Ok(adapter) = pollster::block_on(request) else {
        println!("no graphics adapter on this machine");
        return Ok(());
    };
    // Request all limits of the adapter, and f64 if available.
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: adapter.features() & wgpu::Features::SHADER_F64,
        required_limits: adapter.limits(),
        ..Default::default()
    }))?;
    let gpu = Gpu::from_device(device, queue, &GpuOptions::default())?;
    println!("{:?}: {} items", gpu, choose(&gpu)?);
    let ran: Vec<_> = gpu.dispatches().into_iter().filter(|(_, count)| *count > 0).collect();
    println!("dispatches: {ran:?}");
    Ok(())
}

/// Chooses two items from each of three parts.
fn choose(gpu: &Gpu) -> Result<usize, Error> {
    let values: Vec<f32> = (0..3000 * 16).map(|i| (i as f32 * 0.37).sin() * (i as f32).sqrt()).collect();
    let features = Features::from_rows(3000, 16, values)?;
    let partition = Partition::from_labels(&(0..3000).map(|i| i % 3).collect::<Vec<usize>>())?;
    let quota = Quota::each(&partition, 2)?;
    let dpp = PartitionDpp::new(&features, &partition, &quota)?;
    Ok(Greedy::default().solve(&dpp, &gpu.engine())?.subset.len())
}
