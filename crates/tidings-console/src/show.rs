//! "Show": opens the name, addresses and texts of one person for fifteen minutes, in one session.
