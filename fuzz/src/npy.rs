//! Reads any bytes as a .npy file of features, of a kernel or of labels.

use partition_dpp::{Error, Kernel, data::NpyArray};

use crate::{
    common::{check_sentence, in_one_thread},
    files,
};

/// The largest file tested, in bytes: a kernel takes time cubic in its side.
const LARGEST: usize = 4096;

pub fn run(bytes: &[u8]) {
    if bytes.len() > LARGEST {
        return;
    }
    in_one_thread();
    let path = files::write("input.npy", bytes);
    let array = match NpyArray::open(&path) {
        Ok(array) => array,
        Err(error) => return check(&error),
    };
    let elements: u128 = array.shape().iter().map(|&size| u128::from(size)).product();
    assert!(!format!("{array:?}").is_empty());
    if let Ok(integers) = array.integers() {
        let read = integers.inspect(|integer| _ = integer.as_ref().inspect_err(|error| check(error))).count();
        assert!(read as u128 == elements, "{read} of {elements} integers");
    }
    let promised = array.bytes_to_convert();
    assert!(promised <= 8 * bytes.len() as u64, "{promised} bytes of {}", bytes.len());
    match array.into_features() {
        Ok(features) => {
            assert_eq!((features.items() * features.dims()) as u128, elements);
            let all_finite =
                (0..features.items()).all(|item| features.row(item).iter().all(|x| x.is_finite()));
            assert!(all_finite, "features that are not finite");
        }
        Err(error) => check(&error),
    }
    if let Err(error) = Kernel::open_npy(&path) {
        check(&error);
    }
}

fn check(error: &Error) {
    let sentence = error.to_string();
    check_sentence(&sentence);
    assert!(!sentence.chars().any(char::is_control), "{sentence:?}");
}
