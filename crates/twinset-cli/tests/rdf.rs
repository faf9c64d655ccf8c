//! RDF resources as records: their terms, their blank nodes, and what hostile files do.

use crate::common::Folder;

/// The graph of the paper's first example, with a cycle, and a second resource that differs in its title.
const EXAMPLE: &str = r#"
@prefix c: <http://c/> .
@prefix : <http://x/> .
:R c:hasLocation :L ; c:hasPerson :P ; c:title "One" .
:L c:hasCity "Washington" ; c:hasCountry "United States" .
:P c:hasName "Barack" ; c:hasSurname "Obama" ; c:hasOccupation "President" ; c:livesIn :L .
:L c:houses :P .
:S c:hasLocation :L ; c:hasPerson :P ; c:title "Two" .
"#;

/// What two records have in common, and what one of them has alone.
fn terms(folder: &Folder, command: &str) -> (Vec<String>, Vec<String>) {
    let explained: serde_json::Value = serde_json::from_str(&folder.stdout(&format!("{command} --json"))).unwrap();
    let list = |name: &str| {
        let tokens = explained["tokens"][name].as_array().unwrap().iter();
        let mut tokens: Vec<String> = tokens.map(|token| token.as_str().unwrap().replace("http://", "")).collect();
        tokens.sort();
        tokens
    };
    (list("common"), list("only_left"))
}

#[test]
fn a_resource_has_its_terms_and_those_of_what_it_leads_to() {
    let folder = Folder::with(&[("a.ttl", EXAMPLE.as_bytes())]);
    let (common, alone) = terms(&folder, "explain a.ttl http://x/R http://x/S --threshold 0.5");
    let expected = [
        "c/hasCity, \"Washington\"",
        "c/hasCountry, \"United States\"",
        "c/hasLocation, <x/L>",
        "c/hasName, \"Barack\"",
        "c/hasOccupation, \"President\"",
        "c/hasPerson, <x/P>",
        "c/hasSurname, \"Obama\"",
        "c/houses, <x/P>",
        "c/livesIn, <x/L>",
    ];
    assert_eq!((common, alone), (expected.map(str::to_owned).to_vec(), vec!["c/title, \"One\"".to_owned()]));
    // Only what is at hand.
    let (common, _) = terms(&folder, "explain a.ttl http://x/R http://x/S --threshold 0.5 --depth 1");
    assert_eq!(common, ["c/hasLocation, <x/L>", "c/hasPerson, <x/P>"]);
    let pairs = |options: &str| folder.stdout(&format!("join a.ttl --threshold 0.1 {options}"));
    assert_eq!(
        pairs("--show title"),
        "left,right,similarity,left_title,right_title\nhttp://x/R,http://x/S,0.8181818181818182,One,Two\n"
    );
    assert_eq!(pairs("--resources all --count"), "6\n");
    assert_eq!(pairs("--ignore-predicate http://c/title"), "left,right,similarity\nhttp://x/R,http://x/S,1\n");
    assert_eq!(pairs("--text title --count"), "0\n");
    assert_eq!(
        pairs("--literals words --ignore-predicate <http://c/hasCity>"),
        pairs("--literals words --ignore-predicate http://c/hasCity")
    );
}

#[test]
fn every_syntax_says_the_same() {
    let triples = "<http://x/a> <http://c/p> \"one\\ntwo \u{e9}\" .\n<http://x/a> <http://c/q> <http://x/n> .\n\
                   <http://x/n> <http://c/r> \"3\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n\
                   <http://x/b> <http://c/p> \"one\\ntwo \u{e9}\"@en .\n<http://x/b> <http://c/q> <http://x/n> .\n";
    let xml = "<?xml version='1.0' encoding='windows-1252'?>\n<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:c='http://c/'>\
               <rdf:Description rdf:about='http://x/a'><c:p>one\ntwo \u{e9}</c:p><c:q rdf:resource='http://x/n'/></rdf:Description>\
               <rdf:Description rdf:about='http://x/n'><c:r>3</c:r></rdf:Description>\
               <rdf:Description rdf:about='http://x/b'><c:p>one\ntwo \u{e9}</c:p><c:q rdf:resource='http://x/n'/></rdf:Description></rdf:RDF>";
    let latin: Vec<u8> = xml.chars().map(|c| c as u32 as u8).collect();
    let json = r#"[{"@id": "http://x/a", "http://c/p": "one\ntwo é", "http://c/q": {"@id": "http://x/n", "http://c/r": 3}},
                   {"@id": "http://x/b", "http://c/p": "one\ntwo é", "http://c/q": {"@id": "http://x/n"}}]"#;
    let mut nq = String::new();
    for line in triples.lines() {
        nq += &format!("{} <http://x/graph> .\n", line.trim_end_matches(" ."));
    }
    let folder = Folder::with(&[
        ("a.nt", triples.as_bytes()),
        ("a.nq", nq.as_bytes()),
        ("a.ttl", triples.as_bytes()),
        ("a.trig", format!("<http://x/graph> {{ {triples} }}").as_bytes()),
        ("a.rdf", &latin),
        ("a.jsonld", json.as_bytes()),
    ]);
    for name in ["a.nt", "a.nq", "a.ttl", "a.trig", "a.rdf", "a.jsonld"] {
        let (common, alone) = terms(&folder, &format!("explain {name} http://x/a http://x/b --threshold 0.5"));
        assert_eq!(common, ["c/p, \"one\\ntwo é\"", "c/q, <x/n>", "c/r, \"3\""], "{name}");
        assert!(alone.is_empty(), "{name}");
        assert_eq!(
            folder.stdout(&format!("join {name} --threshold 1 --method minhash --agree 100")).lines().count(),
            2
        );
    }
    // Two collections, and files that describe the same resources together.
    assert_eq!(folder.stdout("join a.nt a.rdf --threshold 1 --count"), "4\n");
    std::fs::create_dir(folder.path("both")).unwrap();
    std::fs::write(folder.path("both/1.nt"), "<http://x/a> <http://c/p> \"1\" .\n_:b <http://c/p> \"1\" .\n").unwrap();
    std::fs::write(folder.path("both/2.ttl"), "<http://x/a> <http://c/p> \"2\" . _:b <http://c/p> \"2\" .").unwrap();
    let pairs = folder.stdout("join both --threshold 0.5");
    assert_eq!(pairs, "left,right,similarity\nhttp://x/a,_:b,0.5\nhttp://x/a,_:b#2,0.5\n");
}

#[test]
fn blank_nodes_are_known_by_what_hangs_below_them() {
    let anonymous = "@prefix c: <http://c/> .\n<http://x/a> c:p [ c:x 1 ; c:y [ c:z 2 ] ] .\n<http://x/b> c:p [ c:y [ c:z 2 ] ; c:x 1 ] .\n\
                     <http://x/c> c:p [ c:x 1 ; c:y [ c:z 3 ] ] .\n";
    let folder = Folder::with(&[("a.ttl", anonymous.as_bytes())]);
    let pairs = folder.stdout("join a.ttl --threshold 0.2");
    assert_eq!(pairs, "left,right,similarity\nhttp://x/a,http://x/b,1\n");
    let all = folder.stdout("join a.ttl --threshold 0.1 --resources all");
    assert_eq!(all, folder.stdout("join a.ttl --threshold 0.1 --resources all"), "names do not change from run to run");
    assert_eq!(
        folder.stdout("join a.ttl --threshold 0.3 --blank-nodes id"),
        "left,right,similarity\nhttp://x/a,http://x/b,0.3333333333333333\n"
    );
    folder.stdout("dedup a.ttl --threshold 0.9 --output kept.nq --removed gone.nq");
    let (kept, gone) = (folder.read("kept.nq"), folder.read("gone.nq"));
    assert_eq!((kept.lines().count(), gone.lines().count()), (8, 4), "{kept}\n{gone}");
    assert!(gone.contains("<http://x/b>") && !kept.contains("<http://x/b>"), "{kept}");
    assert_eq!(folder.stdout("dedup kept.nq --threshold 0.9"), kept, "nothing is left to remove");
    // Shared by one that is kept.
    let shared =
        "@prefix c: <http://c/> .\n<http://x/a> c:p _:n .\n<http://x/b> c:p _:n .\n_:n c:q _:m .\n_:m c:r 1 .\n";
    std::fs::write(folder.path("shared.ttl"), shared).unwrap();
    folder.stdout("dedup shared.ttl --threshold 0.9 --output kept.nq --removed gone.nq");
    assert_eq!((folder.read("kept.nq").lines().count(), folder.read("gone.nq").lines().count()), (3, 1));
}

#[test]
fn predicates_and_types_are_mapped() {
    let turtle = |namespace: &str, name: &str| {
        format!(
            "@prefix o: <http://{namespace}#> .\n<http://x/{name}> a o:Person ; o:name \"ann\" ; o:age 3 .\n<http://x/{name}2> a o:Thing .\n"
        )
    };
    let folder = Folder::with(&[
        ("a.ttl", turtle("one", "a").as_bytes()),
        ("b.ttl", turtle("two", "b").as_bytes()),
        ("map.csv", b"<http://two#name>, http://one#name\nhttp://two#Person,http://one#Person\n"),
        ("all.tsv", b"http://two#*\thttp://one#*\n"),
        ("bad.csv", b"http://two#name\n"),
        ("half.csv", b"http://two#name,http://one#name\nhttp://two#*,http://one#age\n"),
    ]);
    let joined = |options: &str| {
        folder.stdout(&format!("join a.ttl b.ttl --threshold 0.1 --resources typed:http://one#Person {options}"))
    };
    assert_eq!(joined("--map map.csv"), "left,right,similarity\nhttp://x/a,http://x/b,0.5\n");
    assert_eq!(joined("--map all.tsv"), "left,right,similarity\nhttp://x/a,http://x/b,1\n");
    for (command, reason) in [
        ("join a.ttl b.ttl --threshold 0.1 --resources typed:http://one#Person", "no resource has the type"),
        ("join a.ttl --threshold 0.1 --map bad.csv", "line 1 has 1 columns"),
        ("join a.ttl --threshold 0.1 --map half.csv", "line 2 ends in * on one side"),
        ("join a.ttl --threshold 0.1 --show nothing", "no predicate has the IRI or the local name `nothing`"),
        ("dedup a.ttl map.csv --threshold 0.1 --output out", "cannot be one collection"),
        ("dedup a.ttl --threshold 0.1 --output out.ttl", "nq and not ttl"),
        ("dedup a.ttl --threshold 0.1 --stream", "record by record"),
    ] {
        let output = folder.run(command);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && message.contains(reason), "{command}: {message}");
    }
}

#[test]
fn hostile_files_are_refused_with_their_line() {
    let head = "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:c='http://c/'>\n";
    let body = |literal: &str| {
        format!("{head}<rdf:Description rdf:about='http://x/a'><c:p>{literal}</c:p></rdf:Description>\n</rdf:RDF>")
    };
    let mut laughs = "<!DOCTYPE rdf [\n<!ENTITY a0 \"ha\">\n".to_owned();
    for level in 1..30 {
        laughs += &format!("<!ENTITY a{level} \"&a{0};&a{0};&a{0};&a{0};\">\n", level - 1);
    }
    let laughs = laughs + "]>\n" + &body("&a29;");
    let external = format!("<!DOCTYPE rdf [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>\n{}", body("&a;"));
    let small = laughs.replace("DOCTYPE", "doctype");
    let late = format!("<!--{}-->{laughs}", "x".repeat(70_000));
    let wide: Vec<u8> = [0xFF, 0xFE].into_iter().chain(laughs.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let hidden = format!("<!DOCTYPE rdf [<!ENTITY a \"ha\">\n<!ENTITY b \">&a;&a;\">]>\n{}", body("&b;"));
    let utf16 = format!("<?xml version='1.0' encoding='UTF-16'?>\n{}", body("wide"));
    let utf16: Vec<u8> = [0xFE, 0xFF].into_iter().chain(utf16.encode_utf16().flat_map(u16::to_be_bytes)).collect();
    let plain = format!("<!DOCTYPE rdf [<!ENTITY a \"fine\">]>\n{}", body("&a;"));
    let nested = format!("{head}{}", "<rdf:Description><c:p>\n".repeat(100_000));
    let long = body(&"x".repeat(3 << 20));
    let brackets = format!("<http://x/a> <http://c/p> {}", "[ <http://c/p> ".repeat(100_000));
    let deep = format!("{}\"x\"{}", "{\"http://c/p\":".repeat(100_000), "}".repeat(100_000));
    let broken =
        "<http://x/a> <http://c/p> \"1\" .\n<http://x/a> <http://c/p> 'oops\n<http://x/b> <http://c/p> \"1\" .\n";
    let invalid =
        b"<http://x/a> <http://c/p> \"1\" .\n<http://x/a> <http://c/p> \"\xff\" .\n<http://x/b> <http://c/p> \"1\" .\n";
    let chain: String =
        (0..100_000).map(|at| format!("<http://x/{at}> <http://c/p> <http://x/{}> .\n", at + 1)).collect();
    let ring: String =
        (0..1000).map(|at| format!("<http://x/{at}> <http://c/p> <http://x/{}> .\n", (at + 1) % 1000)).collect();
    let mut clique = String::new();
    for from in 0..10 {
        for to in 0..10 {
            clique += &format!("_:n{from} <http://c/p> _:n{to} .\n");
        }
    }
    let clique = clique + "<http://x/a> <http://c/p> _:n1 .\n<http://x/b> <http://c/p> _:n7 .\n";
    let folder = Folder::with(&[
        ("laughs.rdf", laughs.as_bytes()),
        ("external.rdf", external.as_bytes()),
        ("small.rdf", small.as_bytes()),
        ("late.rdf", late.as_bytes()),
        ("wide.rdf", &wide),
        ("hidden.rdf", hidden.as_bytes()),
        ("utf16.rdf", &utf16),
        ("plain.rdf", plain.as_bytes()),
        ("nested.rdf", nested.as_bytes()),
        ("long.rdf", long.as_bytes()),
        ("long.nt", format!("<http://x/a> <http://c/p> \"{}\" .\n", "x".repeat(3 << 20)).as_bytes()),
        ("wrong.rdf", body("</c:q>").as_bytes()),
        ("encoding.rdf", format!("<?xml version='1.0' encoding='klingon'?>{}", body("x")).as_bytes()),
        ("brackets.ttl", brackets.as_bytes()),
        ("deep.jsonld", deep.as_bytes()),
        ("context.jsonld", br#"{"@context": "http://example.com/context", "@id": "http://x/a", "p": 1}"#),
        ("broken.nt", broken.as_bytes()),
        ("invalid.nt", invalid),
        ("relative.ttl", b"<a> <http://c/p> 1 ."),
        ("chain.nt", chain.as_bytes()),
        ("ring.nt", ring.as_bytes()),
        ("clique.nt", clique.as_bytes()),
        ("self.nt", b"<http://x/a> <http://c/p> <http://x/a> .\n"),
        ("empty.ttl", b""),
    ]);
    for (command, reason) in [
        ("laughs.rdf", "it declares entities, which can grow without end; say --allow-entities"),
        ("laughs.rdf --allow-entities", "an entity is made of others"),
        ("small.rdf", "it declares entities"),
        ("late.rdf", "it declares entities"),
        ("late.rdf --allow-entities", "it declares entities"),
        ("wide.rdf", "it declares entities"),
        ("hidden.rdf --allow-entities", "an entity is made of others"),
        ("external.rdf --allow-entities", "an entity stands outside of the document"),
        ("plain.rdf", "--allow-entities"),
        ("nested.rdf", "before its element <rdf:RDF> is closed"),
        ("long.rdf --max-record 1M", "longer than --max-record"),
        ("long.nt --max-record 1M", "longer than --max-record"),
        ("wrong.rdf", "wrong.rdf:2: this is not rdf"),
        ("encoding.rdf", "the encoding klingon"),
        ("brackets.ttl", "brackets.ttl:1"),
        ("deep.jsonld", "more than 128 deep"),
        ("context.jsonld", "context.jsonld"),
        ("broken.nt", "broken.nt:2:"),
        ("invalid.nt", "invalid.nt:2"),
        ("relative.ttl", "relative.ttl:1:1: this is not ttl: No scheme found"),
        ("ring.nt", "say --resources all"),
    ] {
        let output = folder.run(&format!("join {command} --threshold 0.5"));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && message.contains(reason), "{command}: {message}");
    }
    for (command, pairs) in [
        ("plain.rdf --allow-entities", "0\n"),
        ("broken.nt --rejects r.csv", "1\n"),
        ("invalid.nt --rejects r.csv", "1\n"),
        ("utf16.rdf", "0\n"),
        ("chain.nt", "0\n"),
        ("ring.nt --resources all", "499500\n"),
        ("clique.nt", "1\n"),
        ("self.nt", "0\n"),
        ("empty.ttl", "0\n"),
    ] {
        assert_eq!(folder.stdout(&format!("join {command} --threshold 0.9 --count")), pairs, "{command}");
    }
    assert_eq!(folder.run("join broken.nt --threshold 0.5 --rejects r.csv").status.code(), Some(0));
    assert!(folder.read("r.csv").contains("broken.nt,2,"), "{}", folder.read("r.csv"));
}
