//! What tests need of the world: database servers that live as long as a test, on loopback, with a data folder that is thrown away;
//! and a disk that fails.

/// Linux on x86-64, where registers of processes and numbers of calls are known.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod disk;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, geteuid};
use tempfile::TempDir;

/// A server that ends with this value.
pub struct Server {
    process: Child,
    stop: Signal,
    address: String,
    folder: TempDir,
    /// By which it is started.
    serve: Call,
    /// By which it is asked whether it answers.
    ask: Call,
}

/// A program with its arguments, and the user who runs it.
struct Call {
    program: PathBuf,
    args: Vec<String>,
    account: Option<User>,
}

impl Call {
    fn new<S: AsRef<str>>(program: &Path, args: &[S], account: Option<&User>) -> Self {
        let args = args.iter().map(|arg| arg.as_ref().to_owned()).collect();
        Self { program: program.to_owned(), args, account: account.cloned() }
    }

    fn command(&self) -> Command {
        command(&self.program, &self.args, self.account.as_ref())
    }
}

/// The name of the certificate in a server's folder.
const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a test needs and may not be installed. Where it is not, this prints a line that says so, and the test can return;
/// with `TWINSET_REQUIRE_ALL=1`, which `cargo xtask test` sets, the test fails instead.
pub fn installed<T>(what: &str, found: Option<T>) -> Option<T> {
    if found.is_none() {
        let test = std::thread::current().name().unwrap_or("a test").to_owned();
        let line = format!("{test}: {what} is not installed; `cargo xtask test` installs it");
        assert!(std::env::var_os("TWINSET_REQUIRE_ALL").is_none_or(|value| value != "1"), "{line}");
        // The output of tests that pass is captured, if it is printed.
        _ = writeln!(std::io::stderr(), "skipped {line}");
    }
    found
}

/// A program that is called by its name.
pub fn program(name: &str) -> Option<PathBuf> {
    installed(name, find(name))
}

impl Server {
    /// PostgreSQL for a test, if it is installed.
    pub fn postgres_if_installed() -> Option<Self> {
        installed("PostgreSQL", postgres_programs().and_then(|_| find("openssl")))?;
        Some(Self::postgres().expect("PostgreSQL starts"))
    }

    /// MariaDB for a test, if it is installed.
    pub fn mariadb_if_installed() -> Option<Self> {
        installed("MariaDB", find("mariadbd").and_then(|_| find("openssl")))?;
        Some(Self::mariadb().expect("MariaDB starts"))
    }

    /// PostgreSQL with an empty database.
    pub fn postgres() -> anyhow::Result<Self> {
        let programs = postgres_programs().context("PostgreSQL is not installed: `cargo xtask test` installs it")?;
        let account = account("postgres")?;
        let folder = folder(account.as_ref())?;
        let data = folder.path().join("data");
        let init =
            ["--pgdata", path(&data), "--username", "twinset", "--auth", "trust", "--no-sync", "--encoding", "UTF8"];
        run(&mut command(&programs.join("initdb"), &init, account.as_ref()))?;
        let port = free_port()?.to_string();
        let sockets = format!("unix_socket_directories={}", folder.path().display());
        let (certificate, key) = certify(folder.path(), account.as_ref())?;
        let (certificate, key) = (format!("ssl_cert_file={certificate}"), format!("ssl_key_file={key}"));
        let args = ["-D", path(&data), "-p", &port, "-h", "127.0.0.1", "-c", &sockets];
        let secure = ["-c", "ssl=on", "-c", &certificate, "-c", &key];
        let args = [&args[..], &secure].concat();
        let serve = Call::new(&programs.join("postgres"), &args, account.as_ref());
        let ask = ["-h", "127.0.0.1", "-p", &port, "-U", "twinset", "-d", "postgres", "-c", "SELECT 1"];
        let ask = Call::new(&programs.join("psql"), &ask, None);
        // A fast shutdown.
        Self::start(Signal::SIGINT, format!("postgres://twinset@127.0.0.1:{port}/postgres"), folder, serve, ask)
    }

    /// MariaDB with an empty database.
    pub fn mariadb() -> anyhow::Result<Self> {
        let server = find("mariadbd").context("MariaDB is not installed: `cargo xtask test` installs it")?;
        let account = account("mysql")?;
        let folder = folder(account.as_ref())?;
        let data = folder.path().join("data");
        let datadir = format!("--datadir={}", data.display());
        let init = ["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", &datadir];
        let install = find("mariadb-install-db").context("mariadb-install-db is missing")?;
        run(&mut command(&install, &init, account.as_ref()))?;
        let port = free_port()?.to_string();
        let socket = format!("--socket={}", folder.path().join("socket").display());
        let port_option = format!("--port={port}");
        let (certificate, key) = certify(folder.path(), account.as_ref())?;
        let (certificate, key) = (format!("--ssl-cert={certificate}"), format!("--ssl-key={key}"));
        let args =
            ["--no-defaults", &datadir, &socket, &port_option, "--bind-address=127.0.0.1", "--skip-name-resolve"];
        let args = [&args[..], &[certificate.as_str(), &key]].concat();
        let serve = Call::new(&server, &args, account.as_ref());
        let client = find("mariadb").context("the client of MariaDB is missing")?;
        let ask = [
            "--no-defaults",
            "-h",
            "127.0.0.1",
            "-P",
            &port,
            "-u",
            "root",
            "-e",
            "CREATE DATABASE IF NOT EXISTS twinset",
        ];
        let ask = Call::new(&client, &ask, None);
        Self::start(Signal::SIGTERM, format!("mysql://root@127.0.0.1:{port}/twinset"), folder, serve, ask)
    }

    fn start(stop: Signal, address: String, folder: TempDir, serve: Call, ask: Call) -> anyhow::Result<Self> {
        let process = start(&mut serve.command(), folder.path())?;
        let mut server = Self { process, stop, address, folder, serve, ask };
        server.wait()?;
        Ok(server)
    }

    /// Kills the server, which has no chance to do anything.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        self.process.kill()?;
        self.process.wait()?;
        Ok(())
    }

    /// Starts a server that was killed on what it has left, and waits until it answers.
    pub fn restart(&mut self) -> anyhow::Result<()> {
        let begin = Instant::now();
        loop {
            self.process = start(&mut self.serve.command(), self.folder.path())?;
            match self.wait() {
                // The processes of the killed one may not have noticed yet that it is gone.
                Err(_) if begin.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(50)),
                answered => return answered,
            }
        }
    }

    /// The file with the certificate by which it proves who it is.
    pub fn certificate(&self) -> PathBuf {
        self.folder.path().join(CERTIFICATE)
    }

    /// The address of its database.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Waits until it answers.
    fn wait(&mut self) -> anyhow::Result<()> {
        let begin = Instant::now();
        let mut answer = String::new();
        while begin.elapsed() < PATIENCE {
            let output = self.ask.command().output()?;
            if output.status.success() {
                return Ok(());
            }
            answer = String::from_utf8_lossy(&output.stderr).into_owned();
            if let Some(status) = self.process.try_wait()? {
                let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                bail!("the server ended at once ({status}): {log}");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        bail!("the server does not answer: {answer}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; the folder goes in any case.
        let _ = kill(Pid::from_raw(self.process.id() as i32), self.stop);
        let _ = self.process.wait();
    }
}

/// Where PostgreSQL's programs lie; Debian puts those of each version apart.
fn postgres_programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok();
    let mut folders: Vec<PathBuf> =
        versions.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect();
    folders.sort();
    let linked = find("initdb").and_then(|program| Some(program.canonicalize().ok()?.parent()?.to_owned()));
    let is_complete = |folder: &PathBuf| ["initdb", "postgres", "psql"].iter().all(|name| folder.join(name).is_file());
    folders.into_iter().rev().chain(linked).find(is_complete)
}

fn find(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&folders).chain(["/usr/sbin".into(), "/usr/bin".into()]);
    folders.find_map(|folder| Some(folder.join(program)).filter(|path| path.is_file()))
}

/// Servers refuse to run as root, so they run as their own user then.
fn account(name: &str) -> anyhow::Result<Option<User>> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    Ok(Some(User::from_name(name)?.with_context(|| format!("there is no user {name}"))?))
}

/// Makes a key and a certificate for a server on loopback, which vouches for itself.
fn certify(folder: &Path, account: Option<&User>) -> anyhow::Result<(String, String)> {
    let openssl = find("openssl").context("openssl is not installed: `cargo xtask test` installs it")?;
    let (certificate, key) = (folder.join(CERTIFICATE), folder.join(KEY));
    let how = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3 -subj /CN=localhost \
               -addext subjectAltName=IP:127.0.0.1,DNS:localhost -addext basicConstraints=critical,CA:FALSE";
    let args: Vec<&str> = how.split_whitespace().chain(["-keyout", path(&key), "-out", path(&certificate)]).collect();
    run(&mut command(&openssl, &args, account))?;
    Ok((path(&certificate).to_owned(), path(&key).to_owned()))
}

fn folder(account: Option<&User>) -> anyhow::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("twinset-").tempdir()?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    if let Some(user) = account {
        chown(folder.path(), Some(user.uid.as_raw()), Some(user.gid.as_raw()))?;
    }
    Ok(folder)
}

fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

fn command<S: AsRef<OsStr>>(program: &Path, args: &[S], account: Option<&User>) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir("/").stdin(Stdio::null());
    if let Some(user) = account {
        command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
    }
    command
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output().with_context(|| format!("{command:?} could not be started"))?;
    if !output.status.success() {
        bail!(
            "{command:?} failed: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}

/// Starts a server, which writes its log into the folder.
fn start(command: &mut Command, folder: &Path) -> anyhow::Result<Child> {
    let log = fs::File::create(folder.join("log"))?;
    command.stdout(log.try_clone()?).stderr(log);
    command.spawn().with_context(|| format!("{command:?} could not be started"))
}
