//! Reports in a real browser. `cargo xtask test` installs one.

mod common;

use std::path::PathBuf;

use common::Folder;
use headless_chrome::{Browser, LaunchOptions, Tab};

fn browser() -> Browser {
    let names = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];
    let path = names.iter().map(PathBuf::from).find(|path| path.exists());
    let path = path.expect("Chromium is not installed; `cargo xtask test` installs it");
    let options = LaunchOptions {
        path: Some(path),
        sandbox: false,
        args: ["--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
            .iter()
            .map(std::ffi::OsStr::new)
            .collect(),
        ..LaunchOptions::default()
    };
    Browser::new(options).unwrap()
}

fn evaluate(tab: &Tab, script: &str) -> String {
    let value = tab.evaluate(script, false).unwrap().value.unwrap_or_default();
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[test]
fn the_report_of_a_dedup_can_be_clicked_through() {
    let folder = Folder::with(&[(
        "d.csv",
        b"id,text\n\
          1,one two three four five\n\
          2,one two three four six\n\
          3,ONE two three four five\n\
          4,<script>alert(1)</script> & \"quoted\" words here\n\
          5,<script>alert(1)</script> & \"quoted\" words there\n\
          6,nothing like the others\n",
    )]);
    folder.stdout("dedup d.csv --threshold 0.6 --count --report r.html");
    let page = folder.read("r.html");
    assert!(!page.contains("<script>alert"), "what comes from outside is escaped");
    assert!(!page.contains("http://") && !page.contains("https://"), "nothing comes from the network");

    let browser = browser();
    let tab = browser.new_tab().unwrap();
    tab.navigate_to(&format!("file://{}", folder.path("r.html").display())).unwrap().wait_until_navigated().unwrap();
    let text = |id: &str| evaluate(&tab, &format!("document.getElementById('{id}').textContent"));
    assert_eq!([text("at"), text("pairs"), text("groups"), text("removed")], ["0.60", "4", "2", "3"]);

    // The slider, with the keyboard as a user would: at the strictest end only identical sets are left.
    tab.wait_for_element("#threshold").unwrap().focus().unwrap();
    tab.press_key("Home").unwrap();
    assert_eq!([text("at"), text("pairs"), text("groups"), text("removed")], ["1.00", "1", "1", "1"]);
    tab.press_key("End").unwrap();
    assert_eq!(text("pairs"), "4");

    // A group opens and closes, and shows what differs.
    assert_eq!(evaluate(&tab, "document.querySelectorAll('details[open]').length"), "2");
    tab.wait_for_element("details summary").unwrap().click().unwrap();
    assert_eq!(evaluate(&tab, "document.querySelectorAll('details[open]').length"), "1");
    assert_eq!(
        evaluate(&tab, "[...document.querySelectorAll('.record ins')].map(e => e.textContent).join()"),
        "six,ONE,there"
    );
    // On a phone nothing sticks out.
    let page_width = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
    assert_eq!(evaluate(&tab, page_width), "true");
}

#[test]
fn the_report_of_a_profile_can_be_clicked_through() {
    let folder = Folder::with(&[
        ("shop/customers.csv", b"id,name\n1,<script>alert(1)</script>\n2,Bob\n3,Cid\n4,Dan\n"),
        ("shop/orders.csv", b"order_no,customer_id,amount\n11,1,7\n12,3,2\n13,3,9\n14,4,7\n15,2,8\n"),
    ]);
    folder.stdout("profile shop --score 0 --report r.html");
    let page = folder.read("r.html");
    assert!(!page.contains("<script>alert"), "what comes from outside is escaped");
    assert!(!page.contains("http://") && !page.contains("https://"), "nothing comes from the network");

    let browser = browser();
    let tab = browser.new_tab().unwrap();
    tab.navigate_to(&format!("file://{}", folder.path("r.html").display())).unwrap().wait_until_navigated().unwrap();
    let text = |id: &str| evaluate(&tab, &format!("document.getElementById('{id}').textContent"));
    let visible = "document.querySelectorAll('.relation:not([hidden])').length";
    assert_eq!(text("at"), "0.50");
    assert_eq!(text("shown"), evaluate(&tab, visible));
    // The slider, with the keyboard: at the strict end hardly anything is left.
    tab.wait_for_element("#threshold").unwrap().focus().unwrap();
    tab.press_key("Home").unwrap();
    let all: u32 = text("shown").parse().unwrap();
    tab.press_key("End").unwrap();
    let few: u32 = text("shown").parse().unwrap();
    assert!(few < all && text("at") == "1.00", "{few} of {all}");
    assert_eq!(evaluate(&tab, visible), few.to_string());
    tab.press_key("Home").unwrap();
    // A line of the diagram leads to what speaks for it.
    let open = "document.querySelectorAll('.relation[open]').length";
    assert_eq!(evaluate(&tab, open), "0");
    let click = "document.querySelector('.edge').dispatchEvent(new MouseEvent('click', { bubbles: true })); 1";
    evaluate(&tab, click);
    assert_eq!(evaluate(&tab, open), "1");
    let shown = evaluate(&tab, "document.querySelector('.relation[open]').innerText");
    assert!(shown.contains("orders.customer_id") && shown.contains("What speaks for it"), "{shown}");
    // Only names with a word.
    tab.wait_for_element("#filter").unwrap().type_into("amount").unwrap();
    let names = evaluate(
        &tab,
        "[...document.querySelectorAll('.relation:not([hidden]) summary')].every(s => s.textContent.includes('amount'))",
    );
    assert_eq!(names, "true");
    // Tables tell their columns.
    tab.wait_for_element(".table summary").unwrap().click().unwrap();
    assert!(evaluate(&tab, "document.querySelector('.table[open]').innerText").contains("<script>alert(1)</script>"));
    let page_width = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
    assert_eq!(evaluate(&tab, page_width), "true");
}
