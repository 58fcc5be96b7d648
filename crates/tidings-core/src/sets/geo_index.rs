//! The recipients' places on the map, and searches for recipients within a circle.
//!
//! Recipients are gathered by H3 cell. A circle takes a cell whole, leaves it whole, or asks each
//! of its members. Which of the three is decided by the distance to the cell's centre and by how
//! far from it a member was ever put, so that it needs to know nothing about the shape of cells,
//! and poles and the antimeridian are places like any other.

use std::collections::BTreeMap;

use h3o::{CellIndex, LatLng, Resolution};
use roaring::RoaringBitmap;

use crate::model::event::GeoCircle;

/// The radius of the earth in kilometres (contract, section 2).
pub(crate) const EARTH_RADIUS_KM: f64 = 6371.0088;

/// Cells of 12,400 km² on average, some 60 km along an edge: a city or two. There are 41,162 of
/// them, so a look at all that are lived in is bounded and short; finer ones would cost more memory
/// for themselves than for those who live there, coarser ones would be asked member by member.
const RESOLUTION: Resolution = Resolution::Three;

/// The tolerance of distances when a whole cell is included or excluded: they are exact to less than a
/// metre even half way round the earth.
const MARGIN_KM: f64 = 0.001;

/// Number of recipients in a page of places.
const PAGE: u32 = 256;

/// The value of an empty slot in a page.
const NOWHERE: (f64, f64) = (f64::NAN, f64::NAN);

/// The places of a bucket's recipients, by their dense numbers: 16 bytes for each place, 2 for its being
/// in a cell, some 230 for each cell with a member (40 bytes a recipient in all with 60,000 of them
/// spread over the cities of the world, 21 with a million).
#[derive(Clone, Debug, Default)]
pub struct GeoIndex {
    pages: BTreeMap<u32, Box<[(f64, f64); PAGE as usize]>>,
    cells: BTreeMap<CellIndex, Cell>,
}

#[derive(Clone, Debug)]
struct Cell {
    centre: (f64, f64),
    /// The greatest distance of a member from the centre, or more once members have left.
    reach_km: f64,
    members: RoaringBitmap,
}

impl GeoIndex {
    /// Sets the place of a recipient, in degrees north (-90 to 90) and east (-180 to 180), or removes it.
    /// A place outside these ranges counts as none.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::sets::GeoIndex;
    ///
    /// let mut places = GeoIndex::default();
    /// places.set(7, Some((52.52, 13.40)));
    /// assert_eq!(places.place_of(7), Some((52.52, 13.40)));
    /// // No such latitude: the recipient is nowhere now, and not where they were before.
    /// places.set(7, Some((91.0, 13.40)));
    /// assert_eq!(places.place_of(7), None);
    /// ```
    pub fn set(&mut self, number: u32, place: Option<(f64, f64)>) {
        self.leave(number);
        let valid = |&(lat, lon): &(f64, f64)| lat.abs() <= 90.0 && lon.abs() <= 180.0;
        let Some(place) = place.filter(valid) else {
            return;
        };
        let page = self.pages.entry(number / PAGE);
        page.or_insert_with(|| Box::new([NOWHERE; PAGE as usize]))[(number % PAGE) as usize] =
            place;
        let index = cell_of(place);
        let cell = self.cells.entry(index).or_insert_with(|| {
            let centre = LatLng::from(index);
            let centre = (centre.lat(), centre.lng());
            Cell { centre, reach_km: 0.0, members: RoaringBitmap::new() }
        });
        cell.members.insert(number);
        cell.reach_km = cell.reach_km.max(distance_km(cell.centre, place));
    }

    /// The place of a recipient, in degrees north and east, as it was given.
    #[must_use]
    pub fn place_of(&self, number: u32) -> Option<(f64, f64)> {
        let place = self.pages.get(&(number / PAGE))?[(number % PAGE) as usize];
        (!place.0.is_nan()).then_some(place)
    }

    /// The recipients within a circle: at most `near.km` along a great circle from its centre.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::model::GeoCircle;
    /// use tidings_core::sets::GeoIndex;
    ///
    /// let mut places = GeoIndex::default();
    /// places.set(1, Some((-16.8, 179.9)));
    /// places.set(2, Some((-16.8, -179.9)));
    /// places.set(3, Some((-16.8, -170.0)));
    /// // The circle reaches over the antimeridian.
    /// let taveuni = GeoCircle { lat: -16.8, lon: 180.0, km: 20.0 };
    /// assert_eq!(places.within(&taveuni).iter().collect::<Vec<_>>(), [1, 2]);
    /// ```
    #[must_use]
    pub fn within(&self, near: &GeoCircle) -> RoaringBitmap {
        let centre = (near.lat, near.lon);
        let km_a_degree = EARTH_RADIUS_KM.to_radians();
        let mut within = RoaringBitmap::new();
        for cell in self.cells.values() {
            let farthest = near.km + cell.reach_km + MARGIN_KM;
            // Latitude alone tells most cells away, without the cost of a distance.
            if (cell.centre.0 - near.lat).abs() * km_a_degree > farthest {
                continue;
            }
            let away = distance_km(cell.centre, centre);
            if away > farthest {
                continue;
            }
            if away + cell.reach_km + MARGIN_KM <= near.km {
                within |= &cell.members;
                continue;
            }
            let lives_within = |number: &u32| {
                self.place_of(*number).is_some_and(|place| distance_km(place, centre) <= near.km)
            };
            within |= cell.members.iter().filter(lives_within).collect::<RoaringBitmap>();
        }
        within
    }

    /// Bytes of memory used, roughly.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let page = size_of::<[(f64, f64); PAGE as usize]>() + 16;
        let cells = self.cells.values();
        self.pages.len() * page
            + cells
                .map(|cell| size_of::<Cell>() + 64 + cell.members.serialized_size())
                .sum::<usize>()
    }

    fn leave(&mut self, number: u32) {
        let Some(place) = self.place_of(number) else {
            return;
        };
        if let Some(page) = self.pages.get_mut(&(number / PAGE)) {
            page[(number % PAGE) as usize] = NOWHERE;
        }
        let index = cell_of(place);
        if let Some(cell) = self.cells.get_mut(&index) {
            cell.members.remove(number);
            if cell.members.is_empty() {
                self.cells.remove(&index);
            }
        }
    }
}

fn cell_of((lat, lon): (f64, f64)) -> CellIndex {
    LatLng::new(lat, lon).expect("places are finite").to_cell(RESOLUTION)
}

/// The great-circle distance in kilometres between two places in degrees north and east, by the
/// haversine formula. One place under two names, such as a pole, is at distance 0 of itself.
///
/// # Examples
/// ```
/// use tidings_core::sets::distance_km;
///
/// let (berlin, paris) = ((52.52, 13.405), (48.8566, 2.3522));
/// assert_eq!(distance_km(berlin, paris).round(), 877.0);
/// // The north pole has every longitude.
/// assert_eq!(distance_km((90.0, 0.0), (90.0, 120.0)), 0.0);
/// ```
#[must_use]
pub fn distance_km(a: (f64, f64), b: (f64, f64)) -> f64 {
    let ((lat_a, lon_a), (lat_b, lon_b)) = (one_name(a), one_name(b));
    let half = |a: f64, b: f64| ((b - a).to_radians() / 2.0).sin().powi(2);
    let (lats, lons) = (half(lat_a, lat_b), half(lon_a, lon_b));
    let chord = lats + lat_a.to_radians().cos() * lat_b.to_radians().cos() * lons;
    2.0 * EARTH_RADIUS_KM * chord.sqrt().clamp(0.0, 1.0).asin()
}

/// Normalises a place: a pole has every longitude, the antimeridian two; each gets one.
fn one_name((lat, lon): (f64, f64)) -> (f64, f64) {
    if lat.abs() >= 90.0 {
        (lat, 0.0)
    } else if lon <= -180.0 {
        (lat, 180.0)
    } else {
        (lat, lon)
    }
}

#[cfg(test)]
mod tests;
