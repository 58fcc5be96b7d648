//! Deterministic pseudo-random numbers: the demo must be the same on every machine.

/// SplitMix64 (Steele, Lea and Flood, 2014): one word of state, good enough to draw a population.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The sequence of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number from 0 to `bound - 1`; 0 where `bound` is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let wide = u128::from(self.next()) * bound as u128;
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// Draws true `per_mille` times in a thousand.
    pub(crate) fn per_mille(&mut self, per_mille: usize) -> bool {
        self.below(1000) < per_mille
    }

    /// One of these; `None` where there is none.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }
}

/// Draws indices in proportion to their weights.
#[derive(Clone, Debug)]
pub(crate) struct Weighted(Vec<u64>);

impl Weighted {
    /// Index `n` is drawn in proportion to the `n`-th weight.
    pub(crate) fn new(weights: impl Iterator<Item = u64>) -> Self {
        Self(
            weights
                .scan(0_u64, |sum, weight| {
                    *sum = sum.saturating_add(weight);
                    Some(*sum)
                })
                .collect(),
        )
    }

    /// An index; 0 where all weights are 0.
    pub(crate) fn draw(&self, random: &mut Random) -> usize {
        let sum = self.0.last().copied().unwrap_or(0);
        let at = random.below(usize::try_from(sum).unwrap_or(usize::MAX)) as u64;
        self.0.partition_point(|below| *below <= at).min(self.0.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn what_weighs_nothing_is_never_drawn() {
        let weighted = Weighted::new([0, 3, 0, 1, 0].into_iter());
        let mut random = Random::new(7);
        let mut drawn = [0; 5];
        for _ in 0..4000 {
            drawn[weighted.draw(&mut random)] += 1;
        }
        assert_eq!((drawn[0], drawn[2], drawn[4]), (0, 0, 0));
        assert!((2800..3200).contains(&drawn[1]), "{drawn:?}");
    }
}
