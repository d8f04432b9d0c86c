//! Options and quotas as text, and back.

use partition_dpp::{
    CountRange, Error, Method, Partition, Quota, data::QuotaRequest, map, map::Termination, sample::Bound,
};
use proptest::{collection::vec, prelude::*};

/// Labels with what a grammar could trip over: separators, spaces at the ends, digits, nothing.
fn names() -> impl Strategy<Value = Vec<String>> {
    vec("[ab=,. 1]{0,4}", 1..5).prop_map(|mut names| {
        names.sort();
        names.dedup();
        names
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn quotas_survive_their_text(names in names(), counts in vec((0..4_usize, 0..4_usize), 5), total in 0..20_usize) {
        let labels: Vec<&String> = names.iter().flat_map(|name| std::iter::repeat_n(name, 4)).collect();
        let partition = Partition::of(labels).unwrap();
        let counts = counts.into_iter().take(names.len());
        let counts = counts.map(|(low, more)| CountRange::from(low..=low + more));
        let Ok(quota) = Quota::new(&partition, counts) else { return Ok(()) };
        let quota = quota.clone().with_total(total).unwrap_or(quota);
        let request: QuotaRequest = quota.to_string().parse().unwrap();
        prop_assert_eq!(&request.resolve(&partition, quota.total()).unwrap(), &quota, "{}", quota);
        let again: QuotaRequest = request.to_string().parse().unwrap();
        prop_assert_eq!(again, request);
    }

    #[test]
    fn counts_survive_their_text(low in 0..9_usize, more in 0..9_usize, shape in 0..4) {
        let count = match shape {
            0 => CountRange::from(low),
            1 => (low..).into(),
            2 => (..=low).into(),
            _ => (low..=low + more).into(),
        };
        prop_assert_eq!(count.to_string().parse::<CountRange>().unwrap(), count);
    }
}

#[test]
fn options_survive_their_text() {
    for method in [Method::Auto, Method::Rejection, Method::Interpolation, Method::PerCandidate] {
        assert_eq!(method.to_string().parse::<Method>().unwrap(), method);
    }
    for bound in Bound::ALL.into_iter().chain([Bound::Auto]) {
        assert_eq!(bound.to_string().parse::<Bound>().unwrap(), bound);
    }
    for bound in [map::Bound::Spectral, map::Bound::Complement, map::Bound::Repeated] {
        assert_eq!(bound.to_string().parse::<map::Bound>().unwrap(), bound);
    }
    assert_eq!("time limit".parse::<Termination>().unwrap(), Termination::TimeLimit);
    // A name that the grammar cannot write leaves positions.
    let partition = Partition::of(["..", "a"]).unwrap();
    assert_eq!(Quota::new(&partition, [1, 1]).unwrap().to_string(), "1,1");
    let error = "rejecton".parse::<Method>().unwrap_err();
    let known = "there are auto, rejection, interpolation, per-candidate";
    assert_eq!(error.to_string(), format!("there is no method 'rejecton'; {known}"));
    let error = QuotaRequest::Equal.resolve(&Partition::of(["a"]).unwrap(), None).unwrap_err();
    assert!(matches!(error, Error::OpenTotal { low: 0, high: 1 }), "{error}");
}
