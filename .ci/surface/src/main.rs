//! Prints the public items of a library, from the JSON that rustdoc writes of it.

use std::{env, error::Error};

fn main() -> Result<(), Box<dyn Error>> {
    let json = env::args_os().nth(1).ok_or("surface: which file of rustdoc's JSON?")?;
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .build()?;
    println!("{api}");
    Ok(())
}
