//! An application with its own store. It reads rows in pages when they are needed, and a driver that holds no rows
//! draws
//! exact samples of all of them: `cargo run --release --example own_store`.

use partition_dpp::{
    Engine, Features, Partition, Result,
    stream::{Batch, Grams, Plan, Request, StreamSampler, TrialSource, Trials},
};

const PAGES: u64 = 8;
const ROWS: u32 = 5_000;
const DIMS: usize = 16;

/// Stands in for a database. A page is made, or read, when it is requested, and then forgotten.
struct Store {
    reads: u64,
}

impl Store {
    fn page(&mut self, number: u64) -> Result<Batch> {
        self.reads += 1;
        let value = |i: u64| ((i * 7919 + number * 104_729) % 1009) as f32 / 1009.0 - 0.5;
        let values: Vec<f32> = (0..u64::from(ROWS) * DIMS as u64).map(value).collect();
        let kinds = ["bird", "cat", "dog"];
        let labels = (0..ROWS).map(|row| kinds[(row % 3) as usize]);
        let features = Features::from_rows(ROWS as usize, DIMS, values)?.with_unit_rows()?;
        Batch::new(number, &features, &Partition::of(labels)?)
    }
}

/// The store as a source of trials, which skips pages without trials.
struct Answers<'a> {
    store: &'a mut Store,
    plan: &'a Plan,
    /// The sum of the leverages per page.
    totals: Vec<f64>,
}

impl TrialSource for Answers<'_> {
    fn more(&mut self, Request { count, seed }: Request) -> Result<Trials> {
        let counts = self.plan.split(&self.totals, count, seed)?;
        let mut answers = Vec::new();
        for (number, &count) in (0..).zip(&counts).filter(|(_, count)| **count > 0) {
            answers.push(self.plan.trials(&self.store.page(number)?, count, seed, &Engine::cpu())?);
        }
        Trials::concatenate(answers)
    }
}

#[expect(clippy::print_stdout, reason = "an example reports to the terminal")]
fn main() -> Result<()> {
    let mut store = Store { reads: 0 };
    // The first pass sums over the rows, and the second computes the share of every page.
    let mut grams = Grams::default();
    for number in 0..PAGES {
        grams = grams.merge(Grams::of_batch(&store.page(number)?, &Engine::cpu())?)?;
    }
    let plan =
        Plan::partition_dpp(&grams, &grams.quota([("bird", 1), ("cat", 2), ("dog", 2)])?, &Engine::cpu())?;
    let mut totals = Vec::new();
    for number in 0..PAGES {
        totals.push(plan.total_leverage(&store.page(number)?, &Engine::cpu())?);
    }
    println!(
        "{} rows: about {:.0} trials of {} bytes a sample, law error {:.0e}",
        grams.rows(),
        plan.expected_trials(),
        plan.trial_bytes(),
        plan.law_error()
    );

    let mut answers = Answers { store: &mut store, plan: &plan, totals };
    let names: Vec<&str> = plan.parts().collect();
    let mut sampler = StreamSampler::new(&plan, 42)?;
    for draw in sampler.draw_many(5, &mut answers)? {
        let item = |place: &partition_dpp::stream::Place| {
            format!("{} {}/{}", names[place.part as usize], place.batch, place.row)
        };
        println!("{} ({} trials)", draw.items.iter().map(item).collect::<Vec<_>>().join(", "), draw.trials);
    }
    println!("{} trials in all, {} pages read", sampler.trials(), store.reads);
    Ok(())
}
