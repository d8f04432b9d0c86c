//! The counter-based generator Philox4x32-10.

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: usize = 10;

/// Returns four random words, a function of a counter and a key.
///
/// # Source
/// Salmon, Moraes, Dror and Shaw, *Parallel random numbers: as easy as 1, 2, 3* (2011).
pub(crate) fn random_words(counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    let [mut a, mut b, mut c, mut d] = counter;
    for _ in 0..ROUNDS {
        let ([high0, low0], [high1, low1]) =
            (wide_product(MULTIPLIERS[0], a), wide_product(MULTIPLIERS[1], c));
        [a, b, c, d] = [high1 ^ b ^ key[0], low1, high0 ^ d ^ key[1], low0];
        key = [key[0].wrapping_add(STEPS[0]), key[1].wrapping_add(STEPS[1])];
    }
    [a, b, c, d]
}

/// Returns the high and low words of a product.
#[expect(clippy::cast_possible_truncation, reason = "halves of a product")]
fn wide_product(x: u32, y: u32) -> [u32; 2] {
    let product = u64::from(x) * u64::from(y);
    [(product >> 32) as u32, product as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers published with Random123.
    #[test]
    fn known_answers() {
        for (counter, key, expected) in [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ] {
            assert_eq!(random_words(counter, key), expected);
        }
    }
}
