//! Engines, by name.

use std::sync::OnceLock;

use partition_dpp::{
    Engine,
    engine::{EngineInfo, Job, gpu::GpuOptions},
};
use pyo3::{Borrowed, prelude::*};

use crate::{
    errors::{OrRaise, refused},
    numbers,
};

/// The engine that computes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum EngineChoice {
    /// A GPU if it is predicted to be faster, otherwise the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The first GPU.
    Gpu,
}

impl<'py> FromPyObject<'_, 'py> for EngineChoice {
    type Error = PyErr;

    fn extract(name: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match &*numbers::word(&name) {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "gpu" => Ok(Self::Gpu),
            other => Err(refused(format!("the engine \"{other}\" is none of \"auto\", \"cpu\" and \"gpu\""))),
        }
    }
}

impl EngineChoice {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
        }
    }

    /// The engine for a job. A GPU stays open as long as the process.
    pub(crate) fn open(self, job: &Job) -> PyResult<Engine> {
        static CHOSEN: OnceLock<Engine> = OnceLock::new();
        static GPU: OnceLock<Engine> = OnceLock::new();
        match self {
            Self::Cpu => Ok(Engine::cpu()),
            Self::Gpu => {
                if let Some(gpu) = GPU.get() {
                    return Ok(gpu.clone());
                }
                let gpu = without_compositor(|| Engine::gpu(&GpuOptions::default()))?.or_raise()?;
                Ok(GPU.get_or_init(|| gpu).clone())
            }
            Self::Auto => {
                let chosen = without_compositor(|| Engine::auto(job).engine)?;
                if chosen.info().adapter.is_none() {
                    return Ok(chosen);
                }
                Ok(CHOSEN.get_or_init(|| chosen).clone())
            }
        }
    }
}

/// Opens an adapter. Without the folder of sockets, a layer of Mesa that looks for a Wayland compositor while adapters are
/// listed prints an error for each of its attempts: meanwhile the folder is one that does not exist.
fn without_compositor<T>(open: impl FnOnce() -> T) -> PyResult<T> {
    const FOLDER: &str = "XDG_RUNTIME_DIR";
    // Other threads of Python do not run meanwhile, so that they do not see it.
    Python::attach(|py| {
        let environment = py.import("os")?.getattr("environ")?;
        if cfg!(not(unix)) || environment.contains(FOLDER)? {
            return Ok(open());
        }
        environment.set_item(FOLDER, "/nonexistent")?;
        let opened = open();
        environment.del_item(FOLDER)?;
        Ok(opened)
    })
}

/// An engine in words: `cpu`, or the adapter of a GPU with its precision.
pub(crate) fn words(engine: &EngineInfo) -> String {
    if engine.adapter.is_none() { engine.name.to_string() } else { engine.to_string() }
}
