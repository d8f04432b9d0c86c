//! The fields of an object.

use js_sys::{Object, Reflect};
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

/// An object that is read by field names.
pub(crate) struct Fields<'a> {
    object: &'a JsValue,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(object: &'a JsValue) -> Result<Self, JsError> {
        if object.is_object() {
            Ok(Self { object, known: Vec::new() })
        } else {
            Err(JsError::new("a question is an object, as in { k: 10 }"))
        }
    }

    /// A field; `None` if it is missing, undefined or null.
    pub(crate) fn value(&mut self, name: &'static str) -> Option<JsValue> {
        self.known.push(name);
        let value = Reflect::get(self.object, &name.into()).unwrap_or_default();
        (!value.is_null() && !value.is_undefined()).then_some(value)
    }

    /// A field of this type, which `kind` has in words.
    pub(crate) fn read<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        kind: &str,
    ) -> Result<Option<T>, JsError> {
        self.value(name).map(|value| read(name, kind, value)).transpose()
    }

    /// Refuses fields that nothing has asked for.
    pub(crate) fn finish(self) -> Result<(), JsError> {
        let names = Object::keys(self.object.unchecked_ref::<Object>());
        let mut names = names.iter().filter_map(|name| name.as_string());
        match names.find(|name| !self.known.contains(&&**name)) {
            Some(name) => {
                let known = self.known.join(", ");
                Err(JsError::new(&format!("a question has no field {name}; its fields are {known}")))
            }
            None => Ok(()),
        }
    }
}

/// A value of this type, which `kind` has in words.
pub(crate) fn read<T: DeserializeOwned>(name: &str, kind: &str, value: JsValue) -> Result<T, JsError> {
    serde_wasm_bindgen::from_value(value).map_err(|_| JsError::new(&format!("{name} must be {kind}")))
}
