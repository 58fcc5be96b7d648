//! The console over a real server.
