//! `twinset profile`: what a user sees of it.

use std::fs;

use crate::common::Folder;

const CUSTOMERS: &str = "id,name,city\n1,Ann,Ulm\n2,Bob,Bonn\n3,Cid,Ulm\n4,Dan,Kiel\n";
const ORDERS: &str = "id,customer_id,paid\n10,1,yes\n11,3,no\n12,3,yes\n13,4,no\n14,2,yes\n15,,no\n";

fn shop() -> Folder {
    Folder::with(&[("shop/customers.csv", CUSTOMERS.as_bytes()), ("shop/orders.csv", ORDERS.as_bytes())])
}

fn rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

fn message(folder: &Folder, command: &str) -> (Option<i32>, String) {
    let output = folder.run(command);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn relations_are_written_in_all_formats() {
    let folder = shop();
    let text = folder.stdout("profile shop");
    assert!(text.starts_with("kind,left,right,score,similarity,containment,coverage,evidence"), "{text}");
    let first = &rows(&text)[0];
    assert_eq!(first[..3], ["foreign-key", "orders.customer_id", "customers.id"]);
    assert_eq!(first[4..7], ["1", "1", "1"]);
    assert_eq!((first[10].as_str(), first[11].as_str()), ("yes", "no"));
    let json = folder.stdout("profile shop --output-format jsonl");
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(first["right"], "customers.id");
    folder.stdout("profile shop --output r.parquet --features f.jsonl");
    let feature: serde_json::Value = serde_json::from_str(folder.read("f.jsonl").lines().nth(2).unwrap()).unwrap();
    assert_eq!(feature["name"], "customers.city");
    assert_eq!(
        (&feature["distinct"], &feature["unique"], &feature["frequent"]),
        (&3.0.into(), &"no".into(), &"Ulm (2)".into())
    );
    // What was not looked at a second time says so.
    let (_, summary) = message(&folder, "profile shop --no-check");
    assert!(summary.contains("not checked"), "{summary}");
    assert_eq!(rows(&folder.stdout("profile shop --no-check"))[0][10], "no");
}

#[test]
fn exports_are_what_other_programs_read() {
    let folder = shop();
    let sql = folder.stdout("profile shop --export sql");
    let statement = "ALTER TABLE \"orders\" ADD FOREIGN KEY (\"customer_id\") REFERENCES \"customers\" (\"id\");";
    assert!(sql.lines().any(|line| line == statement), "{sql}");
    let mermaid = folder.stdout("profile shop --export mermaid");
    assert!(
        mermaid.starts_with("erDiagram\n") && mermaid.contains("\"orders\" }o--o| \"customers\" : \"customer_id\""),
        "{mermaid}"
    );
    let json: serde_json::Value = serde_json::from_str(&folder.stdout("profile shop --export json")).unwrap();
    assert_eq!(json["features"][0]["name"], "customers.id");
    assert_eq!(json["relations"][0]["evidence"]["name"], 1.0);
    // A value with a line end does not end a comment, and a key with orphans is not declared.
    let many: String = (1..=30).map(|id| format!("{id}\n")).collect();
    fs::write(folder.path("shop/customers.csv"), format!("id\n{many}")).unwrap();
    let all: String = (1..=30).map(|id| format!("{id},{id}\n")).collect();
    fs::write(folder.path("shop/orders.csv"), format!("id,customer_id\n{all}31,\"4\n; DROP TABLE x; --\"\n")).unwrap();
    let sql = folder.stdout("profile shop --export sql");
    let runs: Vec<&str> = sql.lines().filter(|line| !line.starts_with("--") && !line.is_empty()).collect();
    assert!(
        sql.contains("DROP TABLE") && runs.iter().all(|line| line.starts_with("ALTER TABLE \"customers\"")),
        "{sql}"
    );
}

#[test]
fn a_saved_profile_reads_what_has_changed_and_tells_what_is_worse() {
    let folder = shop();
    let first = folder.stdout("profile shop --save lake");
    let (_, summary) = message(&folder, "profile shop --save lake --since lake");
    assert!(summary.contains("2 of the tables unchanged and not profiled again"), "{summary}");
    assert_eq!(folder.stdout("profile shop --save lake"), first);
    assert_eq!(folder.stdout("profile shop --save lake --since lake").lines().count(), 1);
    // An order of a customer that is not there. Of five values, four are contained.
    let more = format!("{ORDERS}16,99,no\n");
    fs::write(folder.path("shop/orders.csv"), more).unwrap();
    let changed = folder.stdout("profile shop --save lake --since lake --containment 0.9");
    let change =
        rows(&changed).into_iter().find(|row| row[2] == "orders.customer_id" && row[1] == "foreign-key").unwrap();
    assert_eq!(change[0], "vanished");
    fs::write(folder.path("shop/orders.csv"), ORDERS).unwrap();
    let changed = folder.stdout("profile shop --save lake --since lake");
    assert!(
        rows(&changed).iter().any(|row| row[..3] == ["appeared", "foreign-key", "orders.customer_id"]),
        "{changed}"
    );
    // It is an index, whose columns can be asked for.
    fs::write(folder.path("new.csv"), "who\n2\n3\n4\n1\n").unwrap();
    assert_eq!(
        folder.stdout("index query lake --threshold 0.9 --like-column new.csv:who"),
        "query,id,similarity,low,high\nnew.csv:who,customers.id,1,1,1\nnew.csv:who,orders.customer_id,1,1,1\n"
    );
    fs::write(folder.path("one.csv"), "who\n3\n").unwrap();
    let contains = folder.stdout("index query lake --threshold 1 --measure containment --like-column one.csv:who");
    assert_eq!(
        rows(&contains).iter().map(|row| row[1].as_str()).collect::<Vec<_>>(),
        ["customers.id", "orders.customer_id"]
    );
    let (code, text) = message(&folder, "index query lake --threshold 1 --like-column one.csv:whom");
    assert!(code == Some(1) && text.contains("there is no column `whom`; it has who"), "{text}");
    // Other options make other values.
    let (code, text) = message(&folder, "profile shop --save lake --normalize case");
    assert!(code == Some(1) && text.contains("--normalize"), "{text}");
    let (code, text) = message(&folder, "profile shop --save shop");
    assert!(code == Some(1) && text.contains("shop"), "{text}");
}

#[test]
fn an_orphan_that_is_new_makes_a_key_worse() {
    let customers: String = (1..=100).map(|id| format!("{id},c{id}\n")).collect();
    let orders = |last: u32| {
        (1..=300).map(|id| format!("{id},{}\n", if id == 300 { last } else { id % 100 + 1 })).collect::<String>()
    };
    let write = |folder: &Folder, last: u32| {
        fs::write(folder.path("s/orders.csv"), format!("order_id,customer\n{}", orders(last))).unwrap();
    };
    let folder = Folder::with(&[("s/customers.csv", format!("id,name\n{customers}").as_bytes())]);
    write(&folder, 7);
    folder.stdout("profile s --save lake");
    write(&folder, 12345);
    let changed = rows(&folder.stdout("profile s --save lake --since lake"));
    let key = changed.iter().find(|row| row[1] == "foreign-key" && row[2] == "orders.customer").unwrap();
    assert_eq!((key[0].as_str(), key[3].as_str(), key[8].as_str()), ("worse", "customers.id", "12345 (1)"));
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_read() {
    let folder = shop();
    let long = format!("a,b\n1,2\n{}\n", "x".repeat(3_000_000));
    let wide: String = (0..10_000).map(|column| format!("c{column}")).collect::<Vec<_>>().join(",");
    let files: [(&str, &[u8]); 8] = [
        ("empty.csv", b""),
        ("header.csv", b"a,b\n"),
        ("ragged.csv", b"a,b\n1,2\n3\n4,5,6\n7,8\n"),
        ("twice.csv", b"a,a,\n1,2,3\n"),
        ("long.csv", long.as_bytes()),
        ("binary.parquet", b"not parquet at all"),
        ("latin.csv", b"a,b\ncaf\xe9,1\nok,2\n"),
        ("wide.csv", wide.as_bytes()),
    ];
    for (name, content) in files {
        fs::write(folder.path(&format!("shop/{name}")), content).unwrap();
    }
    let output = folder.run("profile shop --max-record 1M --features f.csv --report r.html");
    let summary = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{summary}");
    for part in [
        "ragged.csv:3: this row has 1 field, and the header 2; 2 such rows were left out",
        "long.csv:3: the row that starts here is longer than",
        "binary.parquet: not a whole parquet file",
        "latin.csv:2: this is not UTF-8",
    ] {
        assert!(summary.contains(part), "{part} is missing in {summary}");
    }
    let features = folder.read("f.csv");
    for part in [
        "ragged.a,integer,2,0",
        "twice.a_2,integer,1,0",
        "twice.column3,integer,1,0",
        "wide.c9999,empty,0,0",
        "latin.a,text,1,0",
    ] {
        assert!(features.contains(part), "{part} is missing");
    }
    assert!(folder.read("r.html").contains("longer than"));
    let (code, text) = message(&folder, "profile nowhere");
    assert!(code == Some(1) && text.contains("there is no such file or folder"), "{text}");
    let (code, text) = message(&folder, "profile ftp://me:s3cret@host/x");
    assert!(code == Some(1) && !text.contains("s3cret") && text.contains("postgres://"), "{text}");
    let (_, text) = message(&folder, "profile postgres:me:s3cret@host/x");
    assert!(!text.contains("s3cret") && text.contains("postgres://"), "{text}");
    let (code, text) = message(&folder, "profile shop --output shop/result.csv");
    assert!(code == Some(2) && text.contains("a folder that is read"), "{text}");
}

#[test]
fn thousands_of_files_are_read() {
    let folder = Folder::with(&[]);
    fs::create_dir(folder.path("lake")).unwrap();
    for number in 0..3000 {
        let rows: String = (0..20).map(|row| format!("{},v{}\n", 1000 * number + row, (row * number) % 50)).collect();
        let text = if number % 100 == 50 { String::new() } else { format!("id,code\n{rows}") };
        fs::write(folder.path(&format!("lake/t{number:04}.csv")), text).unwrap();
    }
    let (code, summary) = message(&folder, "profile lake --top 1 --no-check --output r.csv");
    assert!(code == Some(0) && summary.contains("3,000 tables, 5,940 features"), "{summary}");
}

#[test]
fn hostile_documents_are_refused_and_the_others_are_read() {
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;\">]><x>&b;</x>";
    let outside = "<!DOCTYPE x [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><x>&a;</x>";
    let deep = format!("{}1{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    let files: [(&str, &[u8]); 8] = [
        ("d/good.xml", b"<?xml version='1.0' encoding='windows-1252'?><shop><c id='7'>caf\xe9 &amp; <![CDATA[<bar>]]></c><!-- no --></shop>"),
        ("d/bomb.xml", bomb.as_bytes()),
        ("d/outside.xml", outside.as_bytes()),
        ("d/deep.xml", deep.as_bytes()),
        ("d/open.xml", b"<shop><c>1</c>"),
        ("d/latin.xml", b"<?xml version='1.0' encoding='utf-8'?><shop><c>caf\xe9</c></shop>"),
        ("d/crossed.xml", b"<shop><c>1</shop></c>"),
        ("d/unknown.xml", b"<shop><c>&nbsp;</c></shop>"),
    ];
    let folder = Folder::with(&files);
    let (code, summary) = message(&folder, "profile d --features f.csv");
    assert_eq!(code, Some(0), "{summary}");
    for part in [
        "bomb.xml: it declares entities",
        "outside.xml: it declares entities",
        "deep.xml: at byte 768: elements are nested more than 256 deep",
        "open.xml: at byte 14: the document ends within /shop, whose end tag is missing",
        "latin.xml: at byte",
        "crossed.xml: at byte",
        "unknown.xml: at byte 9: the entity &nbsp; is not known",
    ] {
        assert!(summary.contains(part), "{part} is missing in {summary}");
    }
    assert_eq!(folder.read("f.csv").lines().skip(1).collect::<Vec<_>>().len(), 2, "{}", folder.read("f.csv"));
    assert!(folder.read("f.csv").contains("/shop/c,text,1,0,1,1,1,yes,café & <bar>,"), "{}", folder.read("f.csv"));
    assert!(folder.read("f.csv").contains("/shop/c/@id,integer,1,0"));
    // Documents that are named one by one are one collection.
    let more = Folder::with(&[("1.xml", b"<a><b>1</b></a>"), ("2.xml", b"<a><b>2</b></a>")]);
    more.stdout("profile 1.xml 2.xml --features f.csv");
    assert!(more.read("f.csv").lines().nth(1).unwrap().starts_with("/a/b,integer,2,0,2,"), "{}", more.read("f.csv"));
}

#[test]
fn cells_of_white_space_are_missing() {
    let folder = Folder::with(&[
        ("a.csv", "id,note\n1, \n2,\t\n3,\n4,\u{a0}\n5,x y\n".as_bytes()),
        ("a.tsv", "id\tnote\n1\t \n2\t  \n3\t\n4\t\u{3000}\n5\tx y\n".as_bytes()),
        ("a.xml", "<r><note a=' '> </note><note a='1'>x y</note></r>".as_bytes()),
    ]);
    let database = rusqlite::Connection::open(folder.path("a.sqlite")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE a (id, note); INSERT INTO a VALUES (1, ' '), (2, '\n'), (3, ''), (4, NULL), (5, 'x y')",
        )
        .unwrap();
    for file in ["a.csv", "a.tsv", "a.sqlite"] {
        folder.stdout(&format!("profile {file} --features f.csv"));
        let note = rows(&folder.read("f.csv")).remove(1);
        assert_eq!(note[..5], ["a.note", "text", "5", "4", "1"], "{file}");
        assert_eq!(note[8..11], ["x y", "x y", "x y"], "{file}");
    }
    folder.stdout("profile a.xml --features f.csv");
    let features = rows(&folder.read("f.csv"));
    assert!(features.iter().all(|feature| feature[4] == "1"), "{features:?}");
    // Where they are asked for, they are values.
    folder.stdout("profile a.csv --features f.csv --empty-values");
    assert_eq!(rows(&folder.read("f.csv"))[1][3..5], ["0", "5"]);
}

#[test]
fn a_saved_profile_is_never_taken_for_the_data() {
    let customers: String = (101..=200).map(|id| format!("{id}\n")).collect();
    let orders =
        |from: u32| -> String { (0..300).map(|order| format!("{},{}\n", 1000 + order, from + order % 100)).collect() };
    // The same size and the same time, and other values.
    let folder = Folder::with(&[("s/customers.csv", format!("id\n{customers}").as_bytes())]);
    let path = folder.path("s/orders.csv");
    let write = |from: u32| {
        fs::write(&path, format!("order_id,customer_id\n{}", orders(from))).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        fs::metadata(&path).unwrap().len()
    };
    let length = write(101);
    let has_key =
        |text: &str| rows(text).iter().any(|row| row[..3] == ["foreign-key", "orders.customer_id", "customers.id"]);
    assert!(has_key(&folder.stdout("profile s --save lake")));
    assert_eq!(write(501), length);
    assert!(!has_key(&folder.stdout("profile s --save other")));
    let changes = rows(&folder.stdout("profile s --save lake --since lake"));
    let change = changes.iter().find(|row| row[1..4] == ["foreign-key", "orders.customer_id", "customers.id"]);
    assert_eq!(change.map(|row| row[0].as_str()), Some("vanished"));
    assert!(!has_key(&folder.stdout("profile s --save lake")));
    // The same in a database.
    let database = rusqlite::Connection::open(folder.path("s.sqlite")).unwrap();
    let values = (1..=100).map(|id| format!("({id})")).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "CREATE TABLE customers (id INTEGER); INSERT INTO customers VALUES {values};
         CREATE TABLE orders (customer_id INTEGER); INSERT INTO orders VALUES {values}, {values}"
    );
    database.execute_batch(&sql).unwrap();
    assert!(has_key(&folder.stdout("profile s.sqlite --save tables")));
    let (_, summary) = message(&folder, "profile s.sqlite --save tables");
    assert!(summary.contains("2 of the tables unchanged"), "{summary}");
    database.execute_batch("UPDATE orders SET customer_id = customer_id + 1000").unwrap();
    let output = folder.run("profile s.sqlite --save tables --since tables");
    let (changes, summary) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(
        rows(&changes).iter().any(|row| row[..3] == ["vanished", "foreign-key", "orders.customer_id"]),
        "{changes}"
    );
    assert!(!summary.contains("unchanged"), "{summary}");
    // What could not be read is reported every time.
    fs::write(folder.path("s/ragged.csv"), "a,b\n1,2\n3\n").unwrap();
    for _ in 0..2 {
        let (_, summary) = message(&folder, "profile s --save lake");
        assert!(summary.contains("ragged.csv:3"), "{summary}");
    }
}

#[test]
fn declared_keys_are_listed_with_their_violations() {
    let folder = Folder::with(&[]);
    let database = rusqlite::Connection::open(folder.path("s.sqlite")).unwrap();
    let list = |ids: std::ops::Range<u32>| ids.map(|id| format!("({id})")).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "PRAGMA foreign_keys = false;
         CREATE TABLE customers (id INTEGER PRIMARY KEY); INSERT INTO customers VALUES {};
         CREATE TABLE orders (customer REFERENCES customers); INSERT INTO orders VALUES {}, {}, (4999);
         CREATE TABLE bare (x); INSERT INTO bare VALUES ('x');
         CREATE TABLE lost (customer REFERENCES nowhere (id), code REFERENCES customers (code), bare REFERENCES bare);
         INSERT INTO lost VALUES ('w', 'y', 'z')",
        list(1..101),
        list(1..100),
        list(4800..5000)
    );
    database.execute_batch(&sql).unwrap();
    for options in ["", "--top 1", "--score 0.99", "--containment 1"] {
        let output = folder.run(&format!("profile s.sqlite {options}"));
        let found = rows(&String::from_utf8(output.stdout).unwrap());
        let key = found.iter().find(|row| row[..3] == ["foreign-key", "orders.customer", "customers.id"]).unwrap();
        assert_eq!(key[5], (99.0 / 299.0).to_string());
        assert!(key[7].ends_with("declared 1.00"), "{}", key[7]);
        assert_eq!((key[10].as_str(), key[11].as_str()), ("yes", "yes"));
        assert!(key[12].starts_with("4999 (2), 4800 (1), ") && key[12].ends_with("and 195 more"), "{}", key[12]);
        // What a key leads to may not be there.
        let summary = String::from_utf8(output.stderr).unwrap();
        for problem in [
            "declared foreign key (customer) to nowhere (id) cannot hold: there is no table of this name",
            "declared foreign key (code) to customers (code) cannot hold: there is no column code in this table",
            "declared foreign key (bare) to bare cannot hold: this table has no primary key",
        ] {
            assert!(summary.contains(problem), "{problem}: {summary}");
        }
    }
    // Of tables that were not asked for it is not known whether they are there.
    let output = folder.run("profile s.sqlite --table lost --table customers");
    let summary = String::from_utf8(output.stderr).unwrap();
    assert!(summary.contains("no column code") && !summary.contains("nowhere"), "{summary}");
    folder.stdout("profile s.sqlite --report r.html");
    assert!(folder.read("r.html").contains("4999"));
    let json: serde_json::Value = serde_json::from_str(&folder.stdout("profile s.sqlite --export json")).unwrap();
    let keys = json["relations"].as_array().unwrap().iter().filter(|relation| relation["declared"] == true);
    assert_eq!(keys.map(|key| key["orphan_rows"].as_u64()).collect::<Vec<_>>(), [Some(201)]);
    let sql = folder.stdout("profile s.sqlite --export sql");
    assert!(sql.contains("would fail") && !sql.lines().any(|line| line.starts_with("ALTER")), "{sql}");
    // A key of tables without rows is listed as well.
    let other = rusqlite::Connection::open(folder.path("t.sqlite")).unwrap();
    other.execute_batch("CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a_id REFERENCES a)").unwrap();
    let found = rows(&folder.stdout("profile t.sqlite"));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0][..3], ["foreign-key", "b.a_id", "a.id"]);
    assert_eq!((found[0][5].as_str(), found[0][10].as_str()), ("1", "yes"));
    let text = folder.stdout("profile t.sqlite --no-check");
    assert_eq!(rows(&text)[0][10..12], ["no", "yes"], "{text}");
}

#[test]
fn equal_features_are_listed_once_each() {
    let count = |found: &[Vec<String>], kind: &str| found.iter().filter(|row| row[0] == kind).count();
    // A thousand paths of one value, each of them once.
    let paths: String = (0..1000).map(|path| format!("<p{path}>1</p{path}>")).collect();
    // Two groups of columns that repeat their values, which are much alike: 9 of 10 values.
    let value = |column: u32, row: u32| if column % 2 == 1 && row % 10 == 9 { 99 } else { row % 10 };
    let row = |row: u32| (0..400).map(|column| value(column, row).to_string()).collect::<Vec<_>>().join(",");
    let names = (0..400).map(|column| format!("c{column}")).collect::<Vec<_>>().join(",");
    let columns = format!("{names}\n{}\n", (0..20).map(row).collect::<Vec<_>>().join("\n"));
    let folder = Folder::with(&[("a.xml", format!("<r>{paths}</r>").as_bytes()), ("t.csv", columns.as_bytes())]);
    let found = rows(&folder.stdout("profile a.xml"));
    assert_eq!((count(&found, "similar"), count(&found, "contained")), (999, 1000));
    // Each is listed against the first, and the first against the second.
    assert!(found.iter().filter(|row| row[0] == "similar").all(|row| row[1] == "/r/p0" && row[4] == "1"));
    let contained = found.iter().filter(|row| row[0] == "contained");
    let expected = |row: &Vec<String>| row[2] == if row[1] == "/r/p0" { "/r/p1" } else { "/r/p0" };
    assert!(contained.clone().all(expected));
    assert_eq!(contained.map(|row| row[1].clone()).collect::<std::collections::BTreeSet<_>>().len(), 1000);
    let found = rows(&folder.stdout("profile t.csv"));
    // And one row for the two groups, in each direction.
    assert_eq!((count(&found, "similar"), count(&found, "contained")), (199 + 199 + 1, 200 + 200 + 2));
    let between = found.iter().find(|row| row[..3] == ["similar", "t.c0", "t.c1"]).unwrap();
    assert_eq!(between[4], (9.0 / 11.0).to_string());
}

#[test]
fn keys_between_equal_columns_are_found() {
    let ids: String = (1..=60).map(|id| format!("{id}\n")).collect();
    let table = |name: &str| format!("{name}\n{ids}");
    let folder = Folder::with(&[
        ("s/accounts.csv", table("user_id").as_bytes()),
        ("s/settings.csv", table("user_id").as_bytes()),
        ("s/users.csv", table("id").as_bytes()),
    ]);
    let found = rows(&folder.stdout("profile s"));
    for left in ["accounts.user_id", "settings.user_id"] {
        let key = found.iter().find(|row| row[..3] == ["foreign-key", left, "users.id"]).unwrap();
        assert_eq!((key[5].as_str(), key[6].as_str(), key[10].as_str()), ("1", "1", "yes"));
    }
}
