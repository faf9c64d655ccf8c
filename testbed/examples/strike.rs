//! Runs a program on a disk that fails at one call: `cargo run -p testbed --example strike -- FOLDER N FAULT COMMAND…`, where FAULT is
//! fail, full, gone, tear, power or reorder. With 0 for N nothing fails, and the power does after the end.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn main() -> anyhow::Result<()> {
    use testbed::disk::{Disk, Fault};

    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, call, fault, program, arguments @ ..] = words.as_slice() else {
        anyhow::bail!("what is to be run? FOLDER N FAULT COMMAND…");
    };
    let call: u64 = call.parse()?;
    let fault = match fault.as_str() {
        "fail" => Fault::Fail,
        "full" => Fault::Full,
        "gone" => Fault::Gone,
        "tear" => Fault::Tear,
        "power" => Fault::Power,
        "reorder" => Fault::Reorder(call),
        other => anyhow::bail!("`{other}` is no fault: fail, full, gone, tear, power or reorder"),
    };
    let mut command = std::process::Command::new(program);
    command.args(arguments);
    let ended = Disk::of(folder.as_ref())?.run(command, (call > 0).then_some((call, fault)))?;
    println!("{} after {} calls; struck: {:?}", ended.status, ended.calls, ended.struck);
    if call == 0 {
        ended.disk.lose_power(None)?;
    }
    Ok(())
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn main() {}
