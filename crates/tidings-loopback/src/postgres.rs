//! PostgreSQL, which can be stopped as a crash does, and started again.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::certificate::certify_as;
use crate::{Server, ServerUser, find, free_port, run};

/// The user and owner of everything.
const USER: &str = "tidings";

/// A server with a cluster of its own.
pub struct Postgres {
    home: PathBuf,
    log: PathBuf,
    user: ServerUser,
    port: u16,
    settings: Vec<String>,
    server: Option<Server>,
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop();
    }
}

fn program(name: &str) -> Result<PathBuf, String> {
    find(name)
        .ok_or_else(|| format!("`{name}` is not installed; on Debian: apt-get install postgresql"))
}

impl Postgres {
    /// Returns true if it is installed here.
    #[must_use]
    pub fn is_installed() -> bool {
        program("postgres").is_ok() && program("initdb").is_ok()
    }

    /// Makes a cluster below a directory and starts it with these settings, `name=value`.
    ///
    /// # Errors
    /// The reason, in words.
    pub fn start(directory: &Path, settings: &[&str]) -> Result<Self, String> {
        let mut made = Self::make(directory, settings)?;
        made.resume()?;
        Ok(made)
    }

    /// Makes a cluster below a directory that takes encrypted connections alone, and starts it. Its certificate is
    /// for `localhost`, from an authority of its own. Users but the owner of everything need a password, and the user
    /// `certified` a certificate of that authority.
    ///
    /// # Errors
    /// The reason, in words.
    pub fn start_encrypted(directory: &Path) -> Result<Self, String> {
        let mut made = Self::make(directory, &["ssl=on"])?;
        for (setting, file) in [
            ("ssl_cert_file", "cert.pem"),
            ("ssl_key_file", "key.pem"),
            ("ssl_ca_file", "ca.pem"),
            ("hba_file", "hba"),
        ] {
            let file = made.home.join(file);
            made.settings.push(format!("{setting}={}", file.display()));
        }
        let hba = format!(
            "hostssl all {USER} 127.0.0.1/32 trust\nhostssl all certified 127.0.0.1/32 cert\n\
             hostssl all all 127.0.0.1/32 scram-sha-256\n"
        );
        std::fs::write(made.home.join("hba"), hba).map_err(|fault| fault.to_string())?;
        certify_as(&made.user, &made.home)?;
        made.resume()?;
        Ok(made)
    }

    /// The certificate of the authority of [`Postgres::start_encrypted`].
    #[must_use]
    pub fn authority(&self) -> PathBuf {
        self.home.join("ca.pem")
    }

    fn make(directory: &Path, settings: &[&str]) -> Result<Self, String> {
        let user = ServerUser::not_root(&["postgres", "nobody"]);
        let home =
            std::path::absolute(directory.join("postgres")).map_err(|fault| fault.to_string())?;
        user.directory(&home)?;
        let mut init = user.command(program("initdb")?);
        init.args(["-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "-D"])
            .arg(home.join("data"))
            .current_dir(&home);
        run(init)?;
        Ok(Self {
            home,
            log: directory.join("postgres.log"),
            user,
            port: free_port().map_err(|fault| fault.to_string())?,
            settings: settings.iter().map(|one| (*one).to_owned()).collect(),
            server: None,
        })
    }

    /// Starts it again after [`Postgres::stop`], on the same port.
    ///
    /// # Errors
    /// The reason, in words.
    pub fn resume(&mut self) -> Result<(), String> {
        let mut command = self.user.command(program("postgres")?);
        let data = self.home.join("data");
        command.current_dir(&self.home).arg("-D").arg(data);
        let always = [
            format!("port={}", self.port),
            "listen_addresses=127.0.0.1".to_owned(),
            "unix_socket_directories=".to_owned(),
        ];
        for setting in always.iter().chain(&self.settings) {
            command.args(["-c", setting]);
        }
        let mut server = Server::start(command, &self.log).map_err(|fault| fault.to_string())?;
        let ready = program("pg_isready")?;
        let port = self.port.to_string();
        server.until(&self.log, || {
            let mut ask = Command::new(&ready);
            ask.args(["-q", "-h", "127.0.0.1", "-d", "postgres", "-U", USER, "-p", &port]);
            run(ask).ok()
        })?;
        self.server = Some(server);
        Ok(())
    }

    /// Stops it as a crash does: nothing is written down first, and all connections break.
    pub fn stop(&mut self) {
        // Killed alone, the parent process would leave its children to find out for themselves.
        if let (Some(_), Ok(program)) = (&self.server, program("pg_ctl")) {
            let mut stop = self.user.command(program);
            stop.args(["stop", "-w", "-m", "immediate", "-D"]).arg(self.home.join("data"));
            let _ = run(stop);
        }
        self.server = None;
    }

    /// Has a statement done in a database.
    ///
    /// # Errors
    /// The text of the refusal.
    pub fn run(&self, database: &str, statement: &str) -> Result<String, String> {
        let mut command = Command::new(program("psql")?);
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statement]);
        let output = run({
            command.arg(self.url(database));
            command
        })?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// The port that it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The user who may do everything, without a password.
    #[must_use]
    pub fn user(&self) -> &'static str {
        USER
    }

    /// The address of a database of it.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/{database}", self.port)
    }
}
