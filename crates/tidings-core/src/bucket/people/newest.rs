//! The newest seqs of changes of inbox entries, by tenant: each view has a revision of its own.

use serde::{Deserialize, Serialize};

use crate::model::number::Seq;
use crate::model::tenant::{TenantNo, View};

/// The newest seq of each tenant's entries, and of entries without a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NewestSeqs {
    /// The seq of entries without a tenant; 0 = none.
    none: Seq,
    /// The seqs of tenants, ascending by number.
    tenants: Vec<(TenantNo, Seq)>,
}

impl NewestSeqs {
    /// Adds a seq; older ones are ignored.
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

    /// Adds all seqs of another set.
    pub(crate) fn note_all(&mut self, other: &Self) {
        self.none = self.none.max(other.none);
        for (tenant, seq) in &other.tenants {
            self.note(Some(*tenant), *seq);
        }
    }

    /// The newest seq in a view.
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

    /// Drops seqs of tenants up to a seq, which a change of every view has.
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
