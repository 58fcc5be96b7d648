//! PgBouncer, which gives statements of many connections to few sessions of a server.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Postgres, Server, ServerUser, find, free_port, run};

/// A pooler in transaction mode before a server.
pub struct PgBouncer {
    user: &'static str,
    port: u16,
    _server: Server,
}

fn program() -> Result<PathBuf, String> {
    let known = Path::new("/usr/sbin/pgbouncer");
    find("pgbouncer").or_else(|| known.is_file().then(|| known.to_owned())).ok_or_else(|| {
        "`pgbouncer` is not installed; on Debian: apt-get install pgbouncer".to_owned()
    })
}

impl PgBouncer {
    /// Returns true if it is installed here.
    #[must_use]
    pub fn is_installed() -> bool {
        program().is_ok()
    }

    /// Starts a pooler below a directory, with so many sessions of the server for each of its databases. Sessions have no
    /// state that outlives a transaction: nothing is reset in between, and no statement is prepared for others.
    ///
    /// # Errors
    /// The reason, in words.
    pub fn start(directory: &Path, postgres: &Postgres, sessions: u32) -> Result<Self, String> {
        let user = ServerUser::not_root(&["postgres", "nobody"]);
        let home =
            std::path::absolute(directory.join("pgbouncer")).map_err(|fault| fault.to_string())?;
        user.directory(&home)?;
        let port = free_port().map_err(|fault| fault.to_string())?;
        let (owner, server) = (postgres.user(), postgres.port());
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={server} user={owner}\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = transaction\ndefault_pool_size = {sessions}\nmax_client_conn = 1000\n\
             server_login_retry = 1\nlogfile =\npidfile =\n"
        );
        let file = home.join("pgbouncer.ini");
        std::fs::write(&file, settings).map_err(|fault| fault.to_string())?;
        let log = directory.join("pgbouncer.log");
        let mut command = user.command(program()?);
        command.current_dir(&home).arg(&file);
        let mut server = Server::start(command, &log).map_err(|fault| fault.to_string())?;
        let ready = find("pg_isready").ok_or("`pg_isready` is not installed")?;
        let port_text = port.to_string();
        server.until(&log, || {
            let mut ask = Command::new(&ready);
            ask.args(["-q", "-h", "127.0.0.1", "-d", "postgres", "-U", owner, "-p", &port_text]);
            run(ask).ok()
        })?;
        Ok(Self { user: owner, port, _server: server })
    }

    /// The address of a database through it.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{}@127.0.0.1:{}/{database}", self.user, self.port)
    }
}
