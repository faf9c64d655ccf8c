//! The same tables tell the same, whatever they lie in; and databases are read with care.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ::mysql::prelude::Queryable;
use serde_json::{Map, Value};
use tempfile::TempDir;
use testbed::Server;
use twinset::Run;
use twinset::estimate::{Synopsis, SynopsisBuilder};
use twinset_index::kmv::{Entry, KmvIndex};
use twinset_io::Limits;
use twinset_profile::{Export, Profile, ProfileOptions, Relation, RelationKind, SavedProfile, profile};

/// A small shop: columns with their types, and rows of SQL values.
fn shop() -> Vec<(&'static str, &'static str, Vec<String>)> {
    let customers = (1..=40).map(|id| {
        let code = if id % 9 == 0 { "NULL".to_owned() } else { format!("'Z{:03}'", id % 7) };
        format!("{id}, 'customer {id}', '2024-01-{:02}', {}, {code}", id % 28 + 1, id % 2 == 0)
    });
    let orders = (1..=120).map(|id| {
        let customer = if id % 10 == 0 { "NULL".to_owned() } else { (id * 7 % 40 + 1).to_string() };
        format!("{id}, {customer}, '2024-02-03 04:05:{:02}', {}.{:02}", id % 60, id % 50, id % 4 * 25)
    });
    let items = (0..300).map(|number| {
        // One product was never there, and two cells hold only white space.
        let product = match number {
            17 => "p-99".to_owned(),
            18 => " ".to_owned(),
            19 => "\u{a0} ".to_owned(),
            _ => format!("p-{:02}", number * 7 % 30),
        };
        format!("{}, '{product}', {}", number % 120 + 1, number % 3 + 1)
    });
    let products = (0..30).map(|number| format!("'p-{number:02}', 'product {number}'"));
    let employees = (1..=12).map(|id| {
        let boss = if id == 1 { "NULL".to_owned() } else { (id / 2).to_string() };
        format!("{id}, {boss}")
    });
    vec![
        (
            "customers",
            "id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(40), since DATE, active BOOLEAN, zone VARCHAR(8)",
            customers.collect(),
        ),
        (
            "orders",
            "id INTEGER NOT NULL PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), placed TIMESTAMP NULL, total NUMERIC(8,2)",
            orders.collect(),
        ),
        ("items", "order_id INTEGER, product VARCHAR(8), amount INTEGER", items.collect()),
        ("products", "code VARCHAR(8) NOT NULL PRIMARY KEY, name VARCHAR(40)", products.collect()),
        (
            "employees",
            "id INTEGER NOT NULL PRIMARY KEY, manager INTEGER REFERENCES employees (id)",
            employees.collect(),
        ),
    ]
}

/// All statements that make the shop.
fn statements() -> Vec<String> {
    let mut statements = Vec::new();
    for (name, columns, rows) in shop() {
        statements.push(format!("CREATE TABLE {name} ({columns})"));
        statements.push(format!("INSERT INTO {name} VALUES ({})", rows.join("), (")));
    }
    statements
}

/// The shop as csv files.
fn write_csv(folder: &Path) {
    for (name, columns, rows) in shop() {
        let header: Vec<&str> = columns.split(", ").filter_map(|column| column.split(' ').next()).collect();
        let rows: Vec<String> =
            rows.iter().map(|row| row.replace("NULL", "").replace(", ", ",").replace('\'', "")).collect();
        fs::write(folder.join(format!("{name}.csv")), format!("{}\n{}\n", header.join(","), rows.join("\n"))).unwrap();
    }
}

fn read(source: &str, options: &ProfileOptions) -> Profile {
    profile(&[source.to_owned()], options, None, &Run::default()).unwrap()
}

/// What is told about features and relations, but for their order.
fn told(found: &Profile) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
    let feature = |feature: &twinset_profile::Feature| {
        let said = format!(
            "{:?} {} {} {} {:?} {:?} {:?} {:?}",
            feature.kind,
            feature.rows,
            feature.nulls,
            feature.distinct.count,
            feature.unique,
            feature.min,
            feature.max,
            feature.frequent
        );
        (feature.name.clone(), said)
    };
    let relation = |relation: &twinset_profile::Relation| {
        let name =
            format!("{} {} {}", relation.kind.name(), found.key_name(&relation.left), found.key_name(&relation.right));
        let said = format!(
            "{:.6} {:.6} {:.6} {} {}",
            relation.score,
            relation.containment,
            relation.coverage,
            relation.orphans_in_words(),
            relation.checked
        );
        (name, said)
    };
    let relations = found.relations.iter().filter(|relation| relation.kind != RelationKind::Similar);
    (found.features.iter().map(feature).collect(), relations.map(relation).collect())
}

fn declared(found: &Profile) -> Vec<String> {
    let declared =
        found.relations.iter().filter(|relation| relation.kind == RelationKind::ForeignKey && relation.declared);
    let mut names: Vec<String> =
        declared.map(|key| format!("{} {}", found.key_name(&key.left), found.key_name(&key.right))).collect();
    names.sort();
    names
}

/// As from csv files, with the declared keys marked.
fn check(source: &str) {
    let folder = TempDir::new().unwrap();
    write_csv(folder.path());
    let options = ProfileOptions { score: 0.0, top: 1000, ..ProfileOptions::default() };
    let (of_files, of_source) = (read(&folder.path().display().to_string(), &options), read(source, &options));
    assert!(of_source.problems.is_empty(), "{:?}", of_source.problems);
    assert_eq!(told(&of_files), told(&of_source), "{source}");
    assert_eq!(declared(&of_source), ["employees.manager employees.id", "orders.customer_id customers.id"]);
    assert!(declared(&of_files).is_empty());
    // The true keys come first, the one with an orphan among them.
    let keys = of_source.relations.iter().filter(|relation| relation.kind == RelationKind::ForeignKey);
    let mut first: Vec<String> = keys
        .take(4)
        .map(|key| format!("{} {}", of_source.key_name(&key.left), of_source.key_name(&key.right)))
        .collect();
    first.sort();
    assert_eq!(
        first,
        [
            "employees.manager employees.id",
            "items.order_id orders.id",
            "items.product products.code",
            "orders.customer_id customers.id"
        ]
    );
    let product = of_source.relations.iter().find(|key| of_source.key_name(&key.left) == "items.product").unwrap();
    assert_eq!((product.orphans.as_slice(), product.orphan_values), (&[("p-99".to_owned(), 1)][..], 1));
}

/// Names that would do harm if they were not quoted.
const HOSTILE: [&str; 2] = ["a\"; drop table customers; --", "b`'\\ ß %s"];

fn check_hostile(source: &str) {
    let found = read(source, &ProfileOptions::default());
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    for name in HOSTILE {
        let feature = found.features.iter().find(|feature| feature.name == format!("{name}.{name}")).unwrap();
        assert_eq!((feature.rows, feature.distinct.count), (2, 2.0));
    }
    assert!(found.features.iter().any(|feature| feature.name == "customers.id"), "the tables are still there");
}

/// A row that is as long as the limit allows is read, and one that is longer is told.
fn check_long_rows(source: &str, mut execute: impl FnMut(&str)) {
    for length in [1000, 1001] {
        execute("CREATE TABLE long_rows (short VARCHAR(10), text VARCHAR(2000))");
        execute(&format!("INSERT INTO long_rows VALUES ('x', '{}')", "y".repeat(length - 1)));
        let limits = Limits { record: 1000, ..Limits::default() };
        let options = ProfileOptions { table: vec!["long_rows".to_owned()], limits, ..ProfileOptions::default() };
        let found = profile(&[source.to_owned()], &options, None, &Run::default());
        let told = found.map_or_else(|error| error.to_string(), |found| format!("{:?}", found.problems));
        assert_eq!(told.contains("--max-record"), length > 1000, "{length}: {told}");
        assert!(length > 1000 || told == "[]", "{told}");
        execute("DROP TABLE long_rows");
    }
}

/// A table whose values have changed is read again, though it has as many rows as before; one that has not is not.
fn check_saved(source: &str, mut execute: impl FnMut(&str)) {
    let numbers =
        |from: u32| (from..from + 100).map(|id| format!("({id}, {})", id + 500)).collect::<Vec<_>>().join(", ");
    for (table, columns) in [("parents", "id INTEGER, other INTEGER"), ("children", "parent_id INTEGER, other INTEGER")]
    {
        execute(&format!("CREATE TABLE {table} ({columns})"));
        execute(&format!("INSERT INTO {table} VALUES {}", numbers(1)));
    }
    let folder = TempDir::new().unwrap();
    let options =
        ProfileOptions { table: vec!["parents".to_owned(), "children".to_owned()], ..ProfileOptions::default() };
    let again = || {
        let mut saved = SavedProfile::open_or_create(folder.path(), &options).unwrap();
        let found = profile(&[source.to_owned()], &options, Some(saved.cache()), &Run::default()).unwrap();
        saved.save(&found, &options).unwrap();
        let refers = |relation: &&Relation| {
            relation.kind == RelationKind::ForeignKey
                && found.key_name(&relation.left) == "children.parent_id"
                && found.key_name(&relation.right) == "parents.id"
        };
        let key = found.relations.iter().find(refers).map(|key| (key.containment, key.checked));
        let fresh = profile(&[source.to_owned()], &options, None, &Run::default()).unwrap();
        assert_eq!(told(&found), told(&fresh), "{source}: what is saved tells the same as the data");
        (found.unchanged, key)
    };
    assert_eq!(again(), (0, Some((1.0, true))));
    assert_eq!(again(), (2, Some((1.0, true))));
    // In SQLite all tables are in one file, and all of them are read again.
    let one = if source.contains("://") { 1 } else { 0 };
    execute("UPDATE children SET parent_id = parent_id + 5000");
    assert_eq!(again(), (one, None));
    assert_eq!(again(), (2, None));
    // Columns that change places, and a row that takes the place of another that is there twice then.
    execute("UPDATE children SET parent_id = other, other = other - 400");
    assert_eq!(again().0, one);
    execute("UPDATE children SET parent_id = 501, other = 101 WHERE parent_id = 502");
    assert_eq!(again().0, one);
    execute("UPDATE children SET parent_id = 503, other = 103 WHERE parent_id = 501");
    assert_eq!(again().0, one);
    assert_eq!(again().0, 2);
    // What an older version saved says nothing of the values.
    let mut index = KmvIndex::open(folder.path()).unwrap();
    let mut entries = Vec::new();
    let mut states = 0;
    let stored = |id: &str, extra: &Map<String, Value>, synopsis: Synopsis<'_>| -> twinset_index::Result<()> {
        let mut record: Value = serde_json::from_str(extra["profile"].as_str().unwrap()).unwrap();
        if let Some(state) = record.pointer_mut("/described/state") {
            *state = "100 rows".into();
            states += 1;
        }
        let extra = Map::from_iter([("profile".to_owned(), record.to_string().into())]);
        let mut builder = SynopsisBuilder::new(options.size).unwrap();
        builder.merge(synopsis);
        entries.push(Entry { id: id.to_owned(), synopsis: builder, bytes: 0, extra });
        Ok(())
    };
    index.snapshot().unwrap().for_each_stored(stored).unwrap();
    index.replace(&[], entries).unwrap();
    index.finish().unwrap();
    drop(index);
    assert_eq!((states, again().0, again().0), (2, 0, 2));
    execute("DROP TABLE children");
    execute("DROP TABLE parents");
}

/// The statements that make tables with keys that are declared and violated, where `refers` declares a key after the rows are there.
fn violated(refers: impl Fn(&str, &str, &str, &str) -> String) -> Vec<String> {
    let list = |rows: Vec<String>| rows.join("), (");
    let parents = (1..=100).map(|id| id.to_string()).collect();
    let children = (1..=300).map(|id| (if id <= 100 { id } else { id + 1000 }).to_string()).collect();
    vec![
        "CREATE TABLE parent (id INTEGER NOT NULL PRIMARY KEY)".to_owned(),
        format!("INSERT INTO parent VALUES ({})", list(parents)),
        "CREATE TABLE triple (a INTEGER, b INTEGER, d INTEGER, PRIMARY KEY (a, b, d))".to_owned(),
        "INSERT INTO triple VALUES (901, 901, 901), (901, 902, 903)".to_owned(),
        refers("child", "parent_id", "INTEGER", "parent (id)"),
        format!("INSERT INTO child (parent_id) VALUES ({})", list(children)),
        refers("nobody", "parent_id", "INTEGER", "parent (id)"),
        refers("part", "x, y, z", "INTEGER", "triple (a, b, d)"),
        "INSERT INTO part (x, y, z) VALUES (901, 901, 901), (901, 902, 903), (907, 907, 908), (909, NULL, 909)"
            .to_owned(),
        // Blank strings are values to a database.
        "CREATE TABLE word (code VARCHAR(8) NOT NULL PRIMARY KEY)".to_owned(),
        "INSERT INTO word VALUES ('a'), ('b'), ('\t')".to_owned(),
        refers("says", "code", "VARCHAR(8)", "word (code)"),
        "INSERT INTO says (code) VALUES ('a'), ('b'), (''), (''), (' '), (NULL), ('\t')".to_owned(),
        "CREATE TABLE couple (a VARCHAR(8), b VARCHAR(8), PRIMARY KEY (a, b))".to_owned(),
        "INSERT INTO couple VALUES ('p', 'q'), ('p', '')".to_owned(),
        refers("pair", "x, y", "VARCHAR(8)", "couple (a, b)"),
        "INSERT INTO pair (x, y) VALUES ('p', 'q'), ('p', ''), ('q', ''), ('', NULL)".to_owned(),
    ]
}

/// The tables of these, those that refer first.
const VIOLATED: &str = "says, word, pair, couple, part, nobody, child, triple, parent";

/// Every key that is declared is listed, with its violations.
fn check_declared(source: &str) {
    let table = VIOLATED.split(", ").map(str::to_owned).collect::<Vec<_>>();
    for no_check in [false, true] {
        let options = ProfileOptions { no_check, table: table.clone(), ..ProfileOptions::default() };
        let found = read(source, &options);
        assert!(found.problems.is_empty(), "{:?}", found.problems);
        let keys: BTreeMap<String, &Relation> = found
            .relations
            .iter()
            .filter(|relation| relation.kind == RelationKind::ForeignKey && relation.declared)
            .map(|key| (format!("{} {}", found.key_name(&key.left), found.key_name(&key.right)), key))
            .collect();
        let names = [
            "child.parent_id parent.id",
            "nobody.parent_id parent.id",
            "pair.x + pair.y couple.a + couple.b",
            "part.x + part.y + part.z triple.a + triple.b + triple.d",
            "says.code word.code",
        ];
        assert_eq!(keys.keys().collect::<Vec<_>>(), names, "{source}");
        assert!(keys.values().all(|key| key.checked != no_check && key.evidence_in_words().contains("declared")));
        let [child, nobody, pair, part, says] = names.map(|name| keys[name]);
        if no_check {
            continue;
        }
        assert_eq!((child.containment, child.orphan_values, child.orphan_rows), (1.0 / 3.0, 200, 200));
        assert_eq!(child.orphans.len(), 5);
        assert_eq!((nobody.containment, nobody.orphan_values), (1.0, 0));
        assert_eq!((part.containment, part.orphans.as_slice()), (2.0 / 3.0, &[("907, 907, 908".to_owned(), 1)][..]));
        let orphans = |key: &Relation| (key.containment, key.orphan_values, key.orphan_rows, key.orphans_in_words());
        assert_eq!(orphans(pair), (0.5, 1, 1, "q, \"\" (1)".to_owned()));
        assert_eq!(orphans(says), (0.5, 2, 3, "\"\" (2), \" \" (1)".to_owned()));
        // What was saved tells the same.
        let folder = TempDir::new().unwrap();
        let mut saved = SavedProfile::open_or_create(folder.path(), &options).unwrap();
        saved
            .save(&profile(&[source.to_owned()], &options, Some(saved.cache()), &Run::default()).unwrap(), &options)
            .unwrap();
        let saved = SavedProfile::open(folder.path()).unwrap();
        let again = profile(&[source.to_owned()], &options, Some(saved.cache()), &Run::default()).unwrap();
        assert_eq!((again.unchanged, told(&again)), (table.len(), told(&found)));
        // As the user says, they stand for no value, or for one as everywhere.
        for (null, empty_values) in [(vec![String::new(), " ".to_owned()], false), (Vec::new(), true)] {
            let options = ProfileOptions { null, empty_values, ..options.clone() };
            let found = read(source, &options);
            let is_says = |key: &&Relation| key.declared && found.key_name(&key.left) == "says.code";
            let says = found.relations.iter().find(is_says).unwrap();
            assert_eq!((says.orphan_values, says.orphan_rows), if empty_values { (2, 3) } else { (0, 0) });
        }
        let sql = found.export(Export::Sql);
        let statements: Vec<&str> = sql.lines().filter(|line| line.contains("ALTER TABLE")).collect();
        assert!(statements.len() == 5 && statements.iter().all(|line| line.starts_with("-- ")), "{sql}");
        assert_eq!(sql.matches("violated: adding it again would fail").count(), 4, "{sql}");
        let mermaid = found.export(Export::Mermaid);
        for line in [
            "\"part\" }o--o| \"triple\" : \"x, y, z (violated: 1 orphan value)\"",
            "\"child\" |o--|| \"parent\" : \"parent_id (violated: 200 orphan values)\"",
            "\"nobody\" }o--|| \"parent\" : \"parent_id\"",
        ] {
            assert!(mermaid.lines().any(|own| own.trim() == line), "{line}: {mermaid}");
        }
    }
}

#[test]
fn sqlite() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("shop.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    statements().iter().for_each(|statement| connection.execute_batch(statement).unwrap());
    check(&path.display().to_string());
    check_long_rows(&path.display().to_string(), |statement| connection.execute_batch(statement).unwrap());
    check_saved(&path.display().to_string(), |statement| connection.execute_batch(statement).unwrap());
    let refers = |table: &str, columns: &str, _: &str, to: &str| {
        let names = columns.to_uppercase();
        format!("CREATE TABLE {table} ({columns}, FOREIGN KEY ({names}) REFERENCES {})", to.to_uppercase())
    };
    connection.execute_batch("PRAGMA foreign_keys = false").unwrap();
    violated(refers).iter().for_each(|statement| connection.execute_batch(statement).unwrap());
    check_declared(&path.display().to_string());
    VIOLATED.split(", ").for_each(|table| connection.execute_batch(&format!("DROP TABLE {table}")).unwrap());
    // With a write-ahead log, the file itself changes only now and then.
    connection.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    check_saved(&path.display().to_string(), |statement| connection.execute_batch(statement).unwrap());
    // Of a file that is opened through a link, the log is beside the file itself.
    #[cfg(unix)]
    {
        let link = folder.path().join("links").join("link.db");
        fs::create_dir(folder.path().join("links")).unwrap();
        std::os::unix::fs::symlink("../shop.db", &link).unwrap();
        check_saved(&link.display().to_string(), |statement| connection.execute_batch(statement).unwrap());
    }
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    check_saved(&path.display().to_string(), |statement| {
        connection.execute_batch(&format!("{statement}; {checkpoint}")).unwrap();
    });
    for name in HOSTILE {
        let quoted = format!("\"{}\"", name.replace('"', "\"\""));
        connection
            .execute_batch(&format!("CREATE TABLE {quoted} ({quoted} INTEGER); INSERT INTO {quoted} VALUES (1), (2)"))
            .unwrap();
    }
    check_hostile(&path.display().to_string());
    let computed = "CREATE TABLE computed (id, twice AS (id * 2), length INTEGER AS (length(id)) STORED);
                    INSERT INTO computed VALUES (5), (6)";
    connection.execute_batch(computed).unwrap();
    let chosen = ProfileOptions { table: vec!["computed".to_owned()], ..ProfileOptions::default() };
    let found = read(&path.display().to_string(), &chosen);
    let distinct: Vec<f64> = found.features.iter().map(|feature| feature.distinct.count).collect();
    assert_eq!(distinct, [2.0, 2.0, 1.0]);
}

#[test]
fn postgres() {
    let Some(server) = Server::postgres_if_installed() else { return };
    let mut client = ::postgres::Client::connect(server.address(), ::postgres::NoTls).unwrap();
    statements().iter().for_each(|statement| client.batch_execute(statement).unwrap());
    check(server.address());
    check_long_rows(server.address(), |statement| client.batch_execute(statement).unwrap());
    check_saved(server.address(), |statement| client.batch_execute(statement).unwrap());
    // Triggers, which check keys, do not run for a replica.
    client.batch_execute("SET session_replication_role = replica").unwrap();
    violated(|table, columns, kind, to| {
        let typed = columns.replace(", ", &format!(" {kind}, "));
        format!(
            "CREATE TABLE {table} ({typed} {kind});
             ALTER TABLE {table} ADD FOREIGN KEY ({columns}) REFERENCES {to} NOT VALID"
        )
    })
    .iter()
    .for_each(|statement| client.batch_execute(statement).unwrap());
    check_declared(server.address());
    client.batch_execute(&format!("DROP TABLE {VIOLATED}")).unwrap();
    // A password is not needed here, and is nowhere to be seen.
    let secret = server.address().replace("twinset@", "twinset:s3cret@");
    let found = read(&format!("{secret}?sslmode=require&password=s3cret"), &ProfileOptions::default());
    assert!(!found.export(Export::Json).contains("s3cret") && !format!("{found:?}").contains("s3cret"));
    let nowhere = secret.replace("/postgres", "/nowhere");
    let error = profile(&[nowhere], &ProfileOptions::default(), None, &Run::default()).unwrap_err().to_string();
    assert!(error.contains("does not exist") && !error.contains("s3cret"), "{error}");
    // Who the server is, is proved by its certificate.
    let certificate = server.certificate();
    let secure = format!("{}?sslmode=verify-full&sslrootcert={}", server.address(), certificate.display());
    assert_eq!(read(&secure, &ProfileOptions::default()).tables.len(), 5);
    let refused = profile(
        &[format!("{}?sslmode=verify-full", server.address())],
        &ProfileOptions::default(),
        None,
        &Run::default(),
    );
    assert!(refused.unwrap_err().to_string().contains("certificate"));
    // Several schemas, one of them chosen, and a table of it.
    client
        .batch_execute("CREATE SCHEMA other; CREATE TABLE other.customers AS SELECT id, zone FROM customers")
        .unwrap();
    let both = read(server.address(), &ProfileOptions::default());
    assert!(both.features.iter().any(|feature| feature.name == "other.customers.zone"));
    assert!(both.features.iter().any(|feature| feature.name == "public.customers.zone"));
    let chosen = ProfileOptions {
        schema: vec!["public".to_owned()],
        table: vec!["orders".to_owned()],
        ..ProfileOptions::default()
    };
    assert_eq!(read(server.address(), &chosen).features[0].name, "orders.id");
    // A view that takes too long is told of, and the rest is read.
    client.batch_execute("DROP SCHEMA other CASCADE; CREATE VIEW slow AS SELECT pg_sleep(60)::text AS never").unwrap();
    let patience = ProfileOptions { views: true, timeout: 0.5, ..ProfileOptions::default() };
    let error = profile(&[server.address().to_owned()], &patience, None, &Run::default());
    let problems = error.map_or_else(|error| error.to_string(), |found| format!("{:?}", found.problems));
    assert!(problems.contains("--timeout"), "{problems}");
    client.batch_execute("DROP VIEW slow").unwrap();
    for name in HOSTILE {
        let quoted = format!("\"{}\"", name.replace('"', "\"\""));
        client
            .batch_execute(&format!("CREATE TABLE {quoted} ({quoted} INTEGER); INSERT INTO {quoted} VALUES (1), (2)"))
            .unwrap();
    }
    check_hostile(server.address());
}

#[test]
fn mariadb() {
    let Some(server) = Server::mariadb_if_installed() else { return };
    let mut connection = ::mysql::Conn::new(server.address()).unwrap();
    statements().iter().for_each(|statement| connection.query_drop(statement).unwrap());
    // InnoDB reads what a column's own REFERENCES say, but does not keep it as a key everywhere.
    check(server.address());
    check_long_rows(server.address(), |statement| connection.query_drop(statement).unwrap());
    check_saved(server.address(), |statement| connection.query_drop(statement).unwrap());
    connection.query_drop("SET SESSION foreign_key_checks = 0").unwrap();
    violated(|table, columns, kind, to| {
        let typed = columns.replace(", ", &format!(" {kind}, "));
        format!("CREATE TABLE {table} ({typed} {kind}, FOREIGN KEY ({columns}) REFERENCES {to})")
    })
    .iter()
    .for_each(|statement| connection.query_drop(statement).unwrap());
    check_declared(server.address());
    connection.query_drop(format!("DROP TABLE {VIOLATED}")).unwrap();
    // Bytes that are no text refer to others, of which some are not there.
    for (table, values) in [("parts", "(x'ff00'), (x'fe01'), (x'fd02')"), ("uses", "(x'ff00'), (x'fe01'), (x'9902')")] {
        connection.query_drop(format!("CREATE TABLE {table} (code VARBINARY(4) NOT NULL)")).unwrap();
        connection.query_drop(format!("INSERT INTO {table} VALUES {values}")).unwrap();
    }
    let chosen = ["parts", "uses"].map(str::to_owned).to_vec();
    let bytes = ProfileOptions { table: chosen, containment: "0.5".parse().unwrap(), ..ProfileOptions::default() };
    read(server.address(), &bytes);
    connection.query_drop("DROP TABLE parts, uses").unwrap();
    let secret = server.address().replace("root@", "root:s3cret@");
    let error = profile(&[secret], &ProfileOptions::default(), None, &Run::default()).unwrap_err().to_string();
    assert!(error.contains("denied") && !error.contains("s3cret"), "{error}");
    let secure = format!("{}?sslmode=verify-full&sslrootcert={}", server.address(), server.certificate().display());
    assert_eq!(read(&secure, &ProfileOptions::default()).tables.len(), 5);
    for name in HOSTILE {
        let quoted = format!("`{}`", name.replace('`', "``"));
        connection.query_drop(format!("CREATE TABLE {quoted} ({quoted} INTEGER)")).unwrap();
        connection.query_drop(format!("INSERT INTO {quoted} VALUES (1), (2)")).unwrap();
    }
    check_hostile(server.address());
}
