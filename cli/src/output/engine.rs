//! The engine, in JSON.

use partition_dpp::engine::EngineInfo;
use serde::Serialize;

/// `cpu` or `gpu`; for a GPU also its name and its backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct EngineAnswer<'a> {
    engine: &'static str,
    adapter: Option<&'a str>,
    backend: Option<&'static str>,
}

impl EngineAnswer<'_> {
    /// The CPU.
    pub(crate) const CPU: Self = Self { engine: "cpu", adapter: None, backend: None };
}

impl<'a> From<&'a EngineInfo> for EngineAnswer<'a> {
    fn from(info: &'a EngineInfo) -> Self {
        match info.name {
            "cpu" => Self::CPU,
            backend => Self { engine: "gpu", adapter: info.adapter.as_deref(), backend: Some(backend) },
        }
    }
}

#[cfg(test)]
mod tests {
    use partition_dpp::engine::{Cpu, Engine};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cpu_has_no_adapter() {
        let answer = serde_json::to_value(EngineAnswer::from(&Cpu.info())).unwrap();
        assert_eq!(answer, json!({ "engine": "cpu", "adapter": null, "backend": null }));
    }

    #[test]
    fn the_interface_of_a_gpu_is_its_backend() {
        let mut info = Cpu.info();
        (info.name, info.adapter) = ("vulkan", Some("A Card".into()));
        let answer = serde_json::to_value(EngineAnswer::from(&info)).unwrap();
        assert_eq!(answer, json!({ "engine": "gpu", "adapter": "A Card", "backend": "vulkan" }));
    }
}
