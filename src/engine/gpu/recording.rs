//! Recorded commands: dispatches with their parameters and bindings, and copies.

use std::{collections::VecDeque, sync::atomic::Ordering};

use wgpu::{BindGroupEntry, BindingResource, Buffer, BufferBinding, BufferUsages};

use super::{
    Gpu,
    buffers::Lease,
    context::Context,
    pace::{Load, Run},
    parameters::Parameter,
    shaders::{Pipeline, Variant},
    stamps::Stamps,
    witness::Witness,
};
use crate::Result;

/// The most bytes of a dispatch's parameters.
const PARAMETERS: u64 = 128;
/// Bytes of a buffer of parameters.
const PAGE: u64 = 1 << 12;
/// The number of bind groups that are kept for dispatches with the same bindings.
const GROUPS: usize = 16;

/// Recorded commands that are not yet submitted.
#[derive(Debug)]
pub(super) struct Work {
    /// The verb that runs.
    pub(super) what: &'static str,
    encoder: wgpu::CommandEncoder,
    /// The pass with the dispatches since the last copy.
    pass: Option<wgpu::ComputePass<'static>>,
    /// Passes that are not yet submitted.
    passes: u32,
    /// The time on the slowest card considered, in seconds.
    seconds: f64,
    /// Buffers that must not be reused before the commands are submitted.
    held: Vec<Lease>,
    /// Parameters that are not yet written to the page. The page is bound with an offset.
    parameters: Vec<u8>,
    page: Lease,
    /// The last bind groups, oldest first.
    groups: VecDeque<Group>,
}

#[derive(Debug)]
struct Group {
    variant: Variant,
    /// The page of parameters, then the other buffers.
    buffers: Vec<Buffer>,
    bound: wgpu::BindGroup,
}

impl Work {
    /// Holds a buffer until the commands are submitted.
    pub(super) fn hold(&mut self, lease: Lease) -> Buffer {
        let buffer = (*lease).clone();
        self.held.push(lease);
        buffer
    }

    /// Returns the encoder for a copy, which ends the current pass.
    pub(super) fn encoder(&mut self) -> &mut wgpu::CommandEncoder {
        self.pass = None;
        &mut self.encoder
    }
}

impl Context {
    pub(super) fn work(&self, what: &'static str) -> Work {
        Work {
            what,
            encoder: self.encoder(),
            pass: None,
            passes: 0,
            seconds: 0.0,
            held: Vec::new(),
            parameters: Vec::new(),
            page: self.page(),
            groups: VecDeque::new(),
        }
    }

    fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("pdpp") })
    }

    fn page(&self) -> Lease {
        self.pool.take(&self.device, BufferUsages::UNIFORM | BufferUsages::COPY_DST, PAGE)
    }

    /// Writes parameters before the commands that use them are submitted.
    fn write_parameters(&self, work: &mut Work) {
        if !work.parameters.is_empty() {
            self.send_bytes(&work.page, 0, &work.parameters);
            work.parameters.clear();
        }
    }

    /// Submits the recorded commands if this many more seconds would make the submission too long.
    fn make_room(&self, work: &mut Work, seconds: f64) -> Result<()> {
        if work.seconds > 0.0 && work.seconds + seconds > self.pace.longest_submission() {
            work.seconds = 0.0;
            self.write_parameters(work);
            let recorded = std::mem::replace(work.encoder(), self.encoder());
            self.send(work.what, recorded)?;
            self.count_passes(std::mem::take(&mut work.passes));
        }
        work.seconds += seconds;
        Ok(())
    }

    /// Submits commands, and returns the number to wait for.
    pub(super) fn submit(&self, mut work: Work) -> Result<u64> {
        self.write_parameters(&mut work);
        work.pass = None;
        let number = self.send(work.what, work.encoder)?;
        self.count_passes(work.passes);
        Ok(number)
    }

    /// Submits the recorded commands, and begins to record others. Returns the number to wait for.
    pub(super) fn submit_so_far(&self, work: &mut Work) -> Result<u64> {
        let recorded = std::mem::replace(work, self.work(work.what));
        self.submit(recorded)
    }

    /// Records a load of a shader, in as many dispatches as it needs. Binding 0 holds the parameters, starting with
    /// the number of workgroups before the dispatch. The buffers follow.
    ///
    /// # Panics
    /// If these are not the parameters that the shader declares.
    pub(super) fn dispatch(
        &self,
        work: &mut Work,
        shader: impl Into<Variant>,
        parameters: &[Parameter],
        buffers: &[&Buffer],
        load: Load,
    ) -> Result<()> {
        let variant = shader.into();
        for run in self.pace.runs(load, self.most_groups) {
            self.make_room(work, self.pace.seconds(Load { groups: run.groups(), ..load }))?;
            self.record(work, variant, parameters, buffers, run)?;
        }
        Ok(())
    }

    fn record(
        &self,
        work: &mut Work,
        variant: Variant,
        parameters: &[Parameter],
        buffers: &[&Buffer],
        run: Run,
    ) -> Result<()> {
        let pipeline = self.pipelines.get(self, variant)?;
        let names = parameters.iter().map(|(name, _)| name);
        assert!(names.eq(&pipeline.parameters), "{} declares {:?}", variant.name(), pipeline.parameters);
        let offset = self.place(work, run.start, parameters);
        let at = self.group(work, pipeline, variant, buffers);
        let pass = work.pass.get_or_insert_with(|| {
            work.passes += 1;
            let timestamp_writes = self.stamps.as_ref().and_then(Stamps::of_pass);
            let descriptor = wgpu::ComputePassDescriptor { label: Some(work.what), timestamp_writes };
            work.encoder.begin_compute_pass(&descriptor).forget_lifetime()
        });
        pass.set_pipeline(&pipeline.compute);
        pass.set_bind_group(0, &work.groups[at].bound, &[offset]);
        pass.dispatch_workgroups(run.x, run.y, 1);
        self.dispatches[variant.shader as usize].fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Adds the parameters of a dispatch to the page, and returns their offset.
    fn place(&self, work: &mut Work, start: usize, parameters: &[Parameter]) -> u32 {
        debug_assert!(4 * (1 + parameters.len()) as u64 <= PARAMETERS, "{parameters:?}");
        let mut offset = work.parameters.len().next_multiple_of(self.alignment);
        if offset as u64 + PARAMETERS > PAGE {
            self.write_parameters(work);
            let full = std::mem::replace(&mut work.page, self.page());
            work.held.push(full);
            offset = 0;
        }
        work.parameters.resize(offset, 0);
        work.parameters.extend(bytemuck::bytes_of(&super::words(start)));
        parameters.iter().for_each(|(_, word)| work.parameters.extend(bytemuck::bytes_of(word)));
        super::words(offset)
    }

    /// The index of a dispatch's bind group, which may be reused from an earlier dispatch.
    fn group(&self, work: &mut Work, pipeline: &Pipeline, variant: Variant, buffers: &[&Buffer]) -> usize {
        let all = || std::iter::once(&*work.page).chain(buffers.iter().copied());
        let known = |group: &Group| group.variant == variant && group.buffers.iter().eq(all());
        if let Some(at) = work.groups.iter().position(known) {
            return at;
        }
        let page = BufferBinding { buffer: &work.page, offset: 0, size: wgpu::BufferSize::new(PARAMETERS) };
        let resources = buffers.iter().map(|buffer| buffer.as_entire_binding());
        let resources = std::iter::once(BindingResource::Buffer(page)).chain(resources);
        let entries = (0..).zip(resources).map(|(binding, resource)| BindGroupEntry { binding, resource });
        let entries: Vec<_> = entries.chain(self.witness.as_ref().map(Witness::entry)).collect();
        let bound = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(variant.shader.label()),
            layout: &pipeline.layout,
            entries: &entries,
        });
        if work.groups.len() == GROUPS {
            work.groups.pop_front();
        }
        let buffers = all().cloned().collect();
        work.groups.push_back(Group { variant, buffers, bound });
        work.groups.len() - 1
    }
}

impl Gpu {
    /// The bytes that up to 64 bytes of parameters take at offsets that the device can bind.
    #[doc(hidden)]
    #[must_use]
    pub fn parameter_bytes(&self) -> u64 {
        64.max(self.context().alignment as u64)
    }
}
