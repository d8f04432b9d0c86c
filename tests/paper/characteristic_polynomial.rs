//! The paper's polynomial, coefficient by coefficient.

use approx::{assert_abs_diff_eq, assert_relative_eq, relative_eq};
use oracles::{Case, assert_error, enumerable_cases, known_answers, oracle};
use partition_dpp::{
    Dpp, Engine, Error, Features, Partition,
    polynomial::{CharacteristicPolynomial, Coefficient},
};

/// Returns Σ det(K_S) over the sets with each vector of counts, in lexicographic order.
fn by_enumeration(case: &Case, parts: usize, sizes: &[usize]) -> Vec<f64> {
    let mut sums = vec![0.0; sizes.iter().map(|size| size + 1).product()];
    let oracle = case.oracle();
    for mask in 0_u32..1 << case.items() {
        let set: Vec<usize> = (0..case.items()).filter(|i| mask >> i & 1 == 1).collect();
        let counts = oracle::counts(&set, &case.labels, parts);
        let at = counts.iter().zip(sizes).fold(0, |at, (count, size)| at * (size + 1) + count);
        sums[at] += oracle.det(&set);
    }
    sums
}

#[test]
fn all_coefficients_of_every_enumerable_case() {
    for case in enumerable_cases() {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let features = case.features();
        let polynomial = CharacteristicPolynomial::new(&features, &partition).unwrap();
        let found = polynomial.coefficients(&Engine::cpu()).unwrap();
        let sizes: Vec<usize> = (0..partition.parts()).map(|part| partition.size(part)).collect();
        let expected = by_enumeration(&case, partition.parts(), &sizes);
        assert_eq!(found.len(), expected.len(), "{}", case.name);
        // Exponents are m − κ, so counts are reversed.
        let mut worst: f64 = 0.0;
        for (at, (coefficient, sum)) in found.iter().zip(expected.iter().rev()).enumerate() {
            let Coefficient { sign, log_magnitude } = coefficient;
            let total: usize = digits(at, &sizes).iter().sum();
            assert_abs_diff_eq!(*sign, if total.is_multiple_of(2) { 1.0 } else { -1.0 }, epsilon = 1e-300);
            if *sum == 0.0 || log_magnitude.value == f64::NEG_INFINITY {
                let same = *sum == 0.0 && log_magnitude.value == f64::NEG_INFINITY;
                assert!(same, "{}: {at} {log_magnitude:?} {sum:e}", case.name);
                continue;
            }
            let error = (log_magnitude.value - sum.ln()).abs();
            worst = worst.max(error);
            assert!(error <= 1e-9, "{}: {at} {log_magnitude:?} {}", case.name, sum.ln());
        }
        println!("{:30} {:5} coefficients, off by at most {worst:.1e}", case.name, found.len());
        let exponents: Vec<usize> = sizes.iter().zip(&case.quota).map(|(size, count)| size - count).collect();
        let one = polynomial.coefficient(&exponents, &Engine::cpu()).unwrap().log_magnitude.value;
        assert!(
            relative_eq!(one, case.log_z, epsilon = 0.0, max_relative = 1e-10),
            "{}: {one} {}",
            case.name,
            case.log_z
        );
    }
}

/// Returns the exponents at a position.
fn digits(mut index: usize, sizes: &[usize]) -> Vec<usize> {
    let mut digits = vec![0; sizes.len()];
    for (digit, size) in digits.iter_mut().zip(sizes).rev() {
        *digit = index % (size + 1);
        index /= size + 1;
    }
    digits
}

#[test]
fn all_coefficients_of_24_and_24_items() {
    let case = known_answers().into_iter().find(|case| case.name == "seed-size-24-24").unwrap();
    let partition = Partition::from_labels(&case.labels).unwrap();
    let features = case.features();
    let polynomial = CharacteristicPolynomial::new(&features, &partition).unwrap();
    let found = polynomial.coefficients(&Engine::cpu()).unwrap();
    assert_eq!(found.len(), 625);
    let at = (24 - case.quota[0]) * 25 + 24 - case.quota[1];
    let log_z = found[at].log_magnitude;
    assert!(
        relative_eq!(log_z.value, case.log_z, epsilon = 0.0, max_relative = 1e-12),
        "{log_z:?} {}",
        case.log_z
    );
    // All coefficients sum to det(I + K).
    let largest = found.iter().map(|c| c.log_magnitude.value).fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = found.iter().map(|c| (c.log_magnitude.value - largest).exp()).sum();
    let whole =
        Dpp::new(&features).unwrap().inference(&Engine::cpu()).unwrap().log_partition_function().value;
    assert_relative_eq!(largest + sum.ln(), whole, epsilon = 0.0, max_relative = 1e-12);
    let smallest = found.iter().map(|c| c.log_magnitude.value).fold(f64::INFINITY, f64::min);
    let worst = found.iter().map(|c| c.log_magnitude.error).fold(0.0, f64::max);
    println!("ln |c| from {smallest:.1} to {largest:.1}, errors up to {worst:.1e}");
    assert!(worst <= 1e-9, "{worst:e}");
}

#[test]
fn bad_exponents_are_refused() {
    let features = Features::from_rows(3, 2, vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0]).unwrap();
    let partition = Partition::from_labels(&["a", "a", "b"]).unwrap();
    let polynomial = CharacteristicPolynomial::new(&features, &partition).unwrap();
    assert_error!(
        polynomial.coefficient(&[1], &Engine::cpu()),
        Error::Shape { what: "the list of exponents", expected: 2, found: 1 },
        ["exponents"]
    );
    assert_error!(
        polynomial.coefficient(&[1, 2], &Engine::cpu()),
        Error::QuotaAbovePartSize { ref part, quota: 2, size: 1 } if part == "b",
        ["part b"]
    );
    let other = Partition::from_labels(&["a", "b"]).unwrap();
    assert_error!(
        CharacteristicPolynomial::new(&features, &other),
        Error::LabelCount { items: 3, labels: 2 },
        ["labels"]
    );
}
