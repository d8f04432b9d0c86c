//! The engine, in JSON.

use partition_dpp::engine::EngineInfo;
use serde::Serialize;

/// `cpu` or `gpu`; for a GPU also its name and its backend; and why `--engine auto` took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct EngineAnswer<'a> {
    engine: &'static str,
    adapter: Option<&'a str>,
    backend: Option<&'a str>,
    /// One sentence; `None` for an engine that was asked for.
    engine_reason: Option<&'a str>,
}

impl<'a> EngineAnswer<'a> {
    /// The CPU.
    pub(crate) const CPU: Self = Self { engine: "cpu", adapter: None, backend: None, engine_reason: None };

    /// With the reason why it was taken.
    pub(crate) fn because(self, reason: Option<&'a str>) -> Self {
        Self { engine_reason: reason, ..self }
    }
}

impl<'a> From<&'a EngineInfo> for EngineAnswer<'a> {
    fn from(info: &'a EngineInfo) -> Self {
        match &*info.name {
            "cpu" => Self::CPU,
            backend => {
                Self { engine: "gpu", adapter: info.adapter.as_deref(), backend: Some(backend), ..Self::CPU }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use partition_dpp::Engine;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cpu_has_no_adapter() {
        let answer = serde_json::to_value(EngineAnswer::from(&Engine::cpu().info())).unwrap();
        assert_eq!(
            answer,
            json!({ "engine": "cpu", "adapter": null, "backend": null, "engine_reason": null })
        );
    }

    #[test]
    fn the_interface_of_a_gpu_is_its_backend() {
        let mut info = Engine::cpu().info();
        (info.name, info.adapter) = ("vulkan".into(), Some("A Card".into()));
        let answer = EngineAnswer::from(&info).because(Some("it is faster"));
        let answer = serde_json::to_value(answer).unwrap();
        assert_eq!((&answer["engine"], &answer["adapter"]), (&json!("gpu"), &json!("A Card")));
        assert_eq!(
            (&answer["backend"], &answer["engine_reason"]),
            (&json!("vulkan"), &json!("it is faster"))
        );
    }
}
