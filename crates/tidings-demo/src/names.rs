//! The names of recipients on the page: made up, the same each time.

const FIRST: [&str; 40] = [
    "Ana", "Ben", "Chiara", "David", "Elif", "Farid", "Grace", "Hanna", "Ivo", "Joana", "Kenji",
    "Lucía", "Mateo", "Nadia", "Owen", "Priya", "Quentin", "Rosa", "Samir", "Tomoko", "Uma",
    "Viktor", "Wanda", "Ximena", "Yusuf", "Zoë", "Amélie", "Bruno", "Camille", "Daniel", "Eszter",
    "Felix", "Giulia", "Hugo", "Ingrid", "Jonas", "Leila", "Miguel", "Noor", "Olga",
];

const LAST: [&str; 43] = [
    "Ruiz",
    "Okafor",
    "Marsh",
    "Lindqvist",
    "Haddad",
    "Novák",
    "Tanaka",
    "Moreau",
    "Silva",
    "Kowalska",
    "Bianchi",
    "Petrov",
    "Nguyen",
    "Schneider",
    "O’Brien",
    "Castillo",
    "Demir",
    "Jensen",
    "Mensah",
    "Rossi",
    "Fischer",
    "Dubois",
    "Sato",
    "Ferreira",
    "Horváth",
    "Ivanova",
    "Khan",
    "Larsen",
    "Mbeki",
    "Nakamura",
    "Ortega",
    "Papadopoulos",
    "Quinn",
    "Reyes",
    "Suzuki",
    "Torres",
    "Usman",
    "Virtanen",
    "Weber",
    "Yilmaz",
    "Zamora",
    "Abbott",
    "Berger",
];

/// The name of the recipient at a place in the world.
#[must_use]
pub(crate) fn name_of(place: usize) -> String {
    // Neighbours differ in both names, and no pair repeats before all have been used.
    let mixed = place.wrapping_mul(1_031) % (FIRST.len() * LAST.len());
    format!("{} {}", FIRST[mixed % FIRST.len()], LAST[mixed / FIRST.len()])
}
