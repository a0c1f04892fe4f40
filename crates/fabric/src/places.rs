//! The entries of a condition's places.

use crate::entry::ElementEntry;
use crate::site::{Place, Site};
use crate::spec::Places;

impl Places {
    /// Entries of one place; none when the place is absent.
    pub fn at(&self, place: Place) -> &[ElementEntry] {
        match place {
            Place::HostEgress => self.host_egress.as_deref(),
            Place::HostIngress => self.host_ingress.as_deref(),
            Place::Link => self.link.as_deref(),
            Place::SwitchIngress => self.switch_ingress.as_deref(),
            Place::SwitchEgress => self.switch_egress.as_deref(),
            Place::Wan => self.wan.as_deref(),
        }
        .unwrap_or_default()
    }

    /// Every place with its entries.
    pub(crate) fn each(&self) -> [(Place, &[ElementEntry]); 6] {
        Place::ALL.map(|place| (place, self.at(place)))
    }

    /// The entries that apply to a site, with their numbers at its place.
    pub(crate) fn at_site<'a>(&'a self, site: &'a Site) -> impl Iterator<Item = (usize, &'a ElementEntry)> {
        self.applying_to(site.place, site)
    }

    /// The entries of a place that apply to a site.
    pub(crate) fn applying_to<'a>(
        &'a self,
        place: Place,
        site: &'a Site,
    ) -> impl Iterator<Item = (usize, &'a ElementEntry)> {
        self.at(place).iter().enumerate().filter(|(_, entry)| site.applies(entry.on.as_deref()))
    }

    pub(crate) fn replaced_by(&self, newer: &Places) -> Places {
        let pick = |new: &Option<Vec<ElementEntry>>, old: &Option<Vec<ElementEntry>>| {
            new.clone().or_else(|| old.clone())
        };
        Places {
            host_egress: pick(&newer.host_egress, &self.host_egress),
            host_ingress: pick(&newer.host_ingress, &self.host_ingress),
            link: pick(&newer.link, &self.link),
            switch_ingress: pick(&newer.switch_ingress, &self.switch_ingress),
            switch_egress: pick(&newer.switch_egress, &self.switch_egress),
            wan: pick(&newer.wan, &self.wan),
        }
    }

    /// The same places, with absent ones written as empty.
    pub(crate) fn written_out(&self) -> Places {
        let written = |place: Place| Some(self.at(place).to_vec());
        Places {
            host_egress: written(Place::HostEgress),
            host_ingress: written(Place::HostIngress),
            link: written(Place::Link),
            switch_ingress: written(Place::SwitchIngress),
            switch_egress: written(Place::SwitchEgress),
            wan: written(Place::Wan),
        }
    }
}
