//! The counter-based generator on the device.

use oracles::engines::{gpu, noticed, open};
use partition_dpp::engine::{
    Precision,
    gpu::{Gpu, GpuOptions},
};

/// Philox4x32-10 as its authors publish it.
fn philox(given: [u32; 6]) -> [u32; 4] {
    let [mut c0, mut c1, mut c2, mut c3, mut k0, mut k1] = given;
    for _ in 0..10 {
        let p0 = 0xD251_1F53_u64 * u64::from(c0);
        let p1 = 0xCD9E_8D57_u64 * u64::from(c2);
        (c0, c1, c2, c3) = ((p1 >> 32) as u32 ^ c1 ^ k0, p1 as u32, (p0 >> 32) as u32 ^ c3 ^ k1, p0 as u32);
        k0 = k0.wrapping_add(0x9E37_79B9);
        k1 = k1.wrapping_add(0xBB67_AE85);
    }
    [c0, c1, c2, c3]
}

/// The known answers published with Random123, then counters that differ by one bit or are arbitrary.
fn random_words(tested: &Gpu) {
    let mut given = vec![
        [0; 6],
        [u32::MAX; 6],
        [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344, 0xa409_3822, 0x299f_31d0],
    ];
    let published = [
        [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
        [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
        [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
    ];
    given.extend((0..6 * 32).map(|bit| std::array::from_fn(|at| u32::from(at == bit / 32) << (bit % 32))));
    let mut state = 1_u32;
    given.extend((0..500).map(|_| {
        std::array::from_fn(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state ^ state >> 15
        })
    }));
    let found = tested.random_words(&given).unwrap();
    assert_eq!(found[..3], published);
    let expected: Vec<_> = given.into_iter().map(philox).collect();
    assert_eq!(found, expected);
}

#[test]
fn random_words_are_those_of_philox() {
    for precision in [Precision::F32, Precision::F64] {
        let Some(gpu) = gpu(precision) else { return };
        random_words(&gpu);
    }
    for (from, to) in [
        ("round < 10u", "round < 9u"),
        ("0xD2511F53u", "0xD2511F55u"),
        ("0xBB67AE85u", "0xBB67AE86u"),
        ("(one & 0xffffu) + (other & 0xffffu)", "(one & 0xffffu)"),
        ("other.x ^ words.y", "one.x ^ words.y"),
    ] {
        let options = GpuOptions::default().with_patch("random_words", from, to);
        let Some(gpu) = open(&options, "planted faults") else { return };
        noticed(&format!("{from} → {to}"), || random_words(&gpu));
    }
}
