//! Serde support for data sent between processes, as the bytes of `to_bytes`.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_bytes::ByteBuf;

use super::{Frame, Grams, Marginals, Plan, Representation, Trials};
use crate::map::CoreSet;

macro_rules! as_bytes {
    ($($name:ident),*) => {$(
        /// Serialised as the bytes of `to_bytes`.
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_bytes(&self.to_bytes())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::from_bytes(&ByteBuf::deserialize(deserializer)?).map_err(D::Error::custom)
            }
        }
    )*};
}

as_bytes!(CoreSet, Frame, Grams, Marginals, Plan, Representation, Trials);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, Partition, engine::Engine, stream::Batch};

    #[test]
    fn what_is_written_is_read() {
        let features = Features::from_rows(3, 2, vec![1.0, 0.0, 2.0, 0.5, 0.0, 1.0]).unwrap();
        let partition = Partition::from_labels(&["cat", "cat", "dog"]).unwrap();
        let grams = Grams::of_batch(&Batch::new(7, &features, &partition).unwrap(), Engine::host()).unwrap();
        let text = serde_json::to_string(&grams).unwrap();
        assert_eq!(serde_json::from_str::<Grams>(&text).unwrap(), grams);
        let error = serde_json::from_str::<Plan>(&text).unwrap_err().to_string();
        assert!(error.contains("these bytes are not a plan"), "{error}");
        assert!(serde_json::from_str::<Plan>("[1, 300]").is_err());
        assert!(serde_json::from_str::<Plan>("7").unwrap_err().to_string().contains("expected byte array"));
    }
}
