//! Reports in a real browser. `cargo xtask test` installs one.

use std::path::PathBuf;

use crate::common::{Folder, Service};
use headless_chrome::{Browser, LaunchOptions, Tab};

/// A browser, if one is installed.
fn browser() -> Option<Browser> {
    let names = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];
    let path = names.iter().map(PathBuf::from).find(|path| path.exists());
    let path = testbed::installed("Chromium", path)?;
    let options = LaunchOptions {
        path: Some(path),
        sandbox: false,
        window_size: Some((1280, 900)),
        args: ["--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
            .iter()
            .map(std::ffi::OsStr::new)
            .collect(),
        ..LaunchOptions::default()
    };
    Some(Browser::new(options).unwrap())
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

    let Some(browser) = browser() else { return };
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

    let Some(browser) = browser() else { return };
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

#[test]
fn stories_can_be_read_compared_and_judged() {
    let folder = Folder::with(&[]);
    let service = Service::start(&folder, "--demo --allow-private");
    let Some(browser) = browser() else { return };
    let tab = browser.new_tab().unwrap();
    let go = |path: &str| {
        tab.navigate_to(&format!("{}{path}", service.address)).unwrap().wait_until_navigated().unwrap();
    };
    let wait_for = |script: &str, wanted: &str| {
        for _ in 0..100 {
            if evaluate(&tab, script) == wanted {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{script} is {}, and not {wanted}", evaluate(&tab, script));
    };
    let stories = "document.querySelectorAll('.story').length";

    // A search returns stories, with what was sought marked.
    go("/");
    tab.wait_for_element("#q").unwrap().type_into("ferry passengers").unwrap();
    tab.press_key("Enter").unwrap();
    wait_for("document.querySelectorAll('.story mark').length > 0", "true");
    assert_eq!(evaluate(&tab, stories), "1");
    assert!(evaluate(&tab, "document.querySelector('.story .meta').textContent").contains("5 articles from 5 sources"));

    // The slider, with the keyboard: at the strict end every telling is a story of its own.
    tab.wait_for_element("#min_sim").unwrap().focus().unwrap();
    tab.press_key("End").unwrap();
    wait_for(stories, "5");
    assert_eq!(evaluate(&tab, "document.querySelector('output[for=min_sim]').textContent"), "1.00");
    assert!(evaluate(&tab, "location.search").contains("min_sim=1"));
    tab.press_key("Home").unwrap();
    wait_for(stories, "1");
    // The other slider asks for more certainty than is kept, and the label index answers.
    tab.wait_for_element("#min_prob").unwrap().focus().unwrap();
    tab.press_key("End").unwrap();
    wait_for("location.search.includes('min_prob=0.99')", "true");
    assert_eq!(evaluate(&tab, "document.querySelector('output[for=min_prob]').textContent"), "0.99");
    wait_for("document.querySelector('#results').getAttribute('aria-busy')", "null");
    wait_for(stories, "1");
    assert!(evaluate(&tab, "document.querySelector('.story .meta').textContent").contains("5 articles"));

    // A story, two of its articles side by side, a verdict, and back again.
    go("/?q=ferry+passengers");
    tab.wait_for_element(".story h2 a").unwrap().click().unwrap();
    wait_for("document.querySelectorAll('tbody tr').length", "5");
    tab.wait_for_element("tbody a[href^='/compare']").unwrap().click().unwrap();
    wait_for("document.querySelectorAll('.side').length", "2");
    wait_for(
        "document.querySelectorAll('.side ins').length > 0 && document.querySelectorAll('.side del').length > 0",
        "true",
    );
    let press = |name: &str| {
        let script = format!("[...document.querySelectorAll('button')].find(b => b.textContent == '{name}').click()");
        evaluate(&tab, &script);
    };
    press("Not the same story");
    wait_for("document.querySelector('.verdict').textContent.includes('You said: not the same story')", "true");
    press("Undo");
    wait_for("document.querySelector('.verdict').textContent.includes('You said')", "false");

    // Marking a story read marks all copies.
    go("/?q=ferry+passengers");
    press("Mark read");
    wait_for("document.querySelectorAll('.story.read').length", "1");

    // A feed that is served on this machine.
    let feed = "<?xml version='1.0'?><rss version='2.0'><channel><title>Loopback Gazette</title><item><title>Quince harvest</title>\
                <link>https://gazette.example/1</link><description>The quince harvest was larger than ever.</description></item></channel></rss>";
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            _ = stream.read(&mut request);
            _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{feed}", feed.len());
        }
    });
    go("/feeds");
    tab.wait_for_element("#address").unwrap().type_into(&format!("http://{address}/feed")).unwrap();
    press("Follow");
    wait_for("document.querySelector('table')?.textContent.includes('Loopback Gazette') ?? false", "true");
    go("/?q=quince");
    wait_for(stories, "1");

    // In the dark, and on a phone, where nothing sticks out and the stories come first.
    use headless_chrome::protocol::cdp::Emulation;
    let dark = Emulation::MediaFeature { name: "prefers-color-scheme".to_owned(), value: "dark".to_owned() };
    tab.call_method(Emulation::SetEmulatedMedia { media: None, features: Some(vec![dark]) }).unwrap();
    let phone = Emulation::SetDeviceMetricsOverride {
        width: 390,
        height: 844,
        device_scale_factor: 1.0,
        mobile: true,
        scale: None,
        screen_width: None,
        screen_height: None,
        position_x: None,
        position_y: None,
        dont_set_visible_size: None,
        screen_orientation: None,
        viewport: None,
        display_feature: None,
        device_posture: None,
    };
    tab.call_method(phone).unwrap();
    for path in ["/", "/?sort=hot", "/stories/1", "/articles/1", "/compare?left=1&right=2", "/feeds", "/status"] {
        go(path);
        let width = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
        assert_eq!(evaluate(&tab, width), "true", "{path}");
        let background = "getComputedStyle(document.body).backgroundColor";
        assert_eq!(evaluate(&tab, background), "rgb(22, 24, 28)", "{path}");
    }
    go("/");
    assert_eq!(evaluate(&tab, "document.querySelector('#controls details').open"), "false");
}
