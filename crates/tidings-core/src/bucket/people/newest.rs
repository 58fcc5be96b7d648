//! The newest seqs of something that concerns inbox entries, by their tenant: each view goes by its own.

use serde::{Deserialize, Serialize};

use crate::model::number::Seq;
use crate::model::tenant::{TenantNo, View};

/// The newest seq of each tenant's entries, and of those of none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NewestSeqs {
    /// That of entries of none; 0 = there is none.
    none: Seq,
    /// Those of tenants, ascending by number.
    tenants: Vec<(TenantNo, Seq)>,
}

impl NewestSeqs {
    /// Notes a seq; an older one changes nothing.
    pub(crate) fn note(&mut self, tenant: Option<TenantNo>, seq: Seq) {
        let Some(tenant) = tenant else {
            self.none = self.none.max(seq);
            return;
        };
        match self.tenants.binary_search_by_key(&tenant, |(of, _)| *of) {
            Ok(at) => self.tenants[at].1 = self.tenants[at].1.max(seq),
            Err(at) => self.tenants.insert(at, (tenant, seq)),
        }
    }

    /// Notes all of another one.
    pub(crate) fn note_all(&mut self, other: &Self) {
        self.none = self.none.max(other.none);
        for (tenant, seq) in &other.tenants {
            self.note(Some(*tenant), *seq);
        }
    }

    /// The newest seq of what a view shows.
    pub(crate) fn in_view(&self, view: View<TenantNo>) -> Seq {
        let of = |tenant: TenantNo| {
            let at = self.tenants.binary_search_by_key(&tenant, |(of, _)| *of);
            at.map_or_else(|_| Seq::default(), |at| self.tenants[at].1)
        };
        match view {
            View::All => self.tenants.iter().map(|(_, seq)| *seq).fold(self.none, Seq::max),
            View::Of(tenant) => self.none.max(of(tenant)),
            View::Only(tenant) => of(tenant),
        }
    }

    /// The newest seq of all.
    pub(crate) fn of_all(&self) -> Seq {
        self.in_view(View::All)
    }

    /// Drops seqs up to this one, where something as new concerns every view.
    pub(crate) fn forget_to(&mut self, seq: Seq) {
        self.tenants.retain(|(_, newest)| *newest > seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_view_goes_by_the_seqs_of_what_it_shows() {
        let tenant = |number| TenantNo::of_raw(number).unwrap();
        let mut newest = NewestSeqs::default();
        for (of, seq) in [(0, 5), (2, 9), (1, 7), (2, 8)] {
            newest.note(TenantNo::of_raw(of), Seq(seq));
        }
        let seqs = |newest: &NewestSeqs| {
            let views =
                [View::All, View::Of(tenant(1)), View::Of(tenant(3)), View::Only(tenant(3))];
            views.map(|view| newest.in_view(view).0)
        };
        assert_eq!(seqs(&newest), [9, 7, 5, 0]);
        let mut other = NewestSeqs::default();
        other.note(Some(tenant(3)), Seq(6));
        newest.note_all(&other);
        assert_eq!(seqs(&newest), [9, 7, 6, 6]);
        newest.forget_to(Seq(7));
        assert_eq!(seqs(&newest), [9, 5, 5, 0]);
    }
}
