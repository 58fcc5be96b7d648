//! Tenants and their members by commands, with and without a server.

use super::*;

const TENANTS: &str = "[tenants]\non = true\n";

/// Tests both ways, with two people.
fn both(test: impl Fn(World)) {
    for is_served in [false, true] {
        let mut world = World::new();
        world.file("tidings.toml", &format!("{CONFIG}{TENANTS}"));
        if is_served {
            world.server = Some(Server::start(&world.path("tidings.toml"), &world.path("data")));
        }
        test(world.with_people());
    }
}

#[test]
fn t42_tenants_are_made_changed_listed_and_deleted() {
    both(|world| {
        let named = world.file("acme.json", r##"{"brand": {"color": "#0b57a4"}, "locale": "de"}"##);
        let set = ["tenant", "set", "acme", "--file", &named, "--name", "Acme"];
        let made = world.run(&set).done().out;
        assert_eq!(made, "The tenant acme is saved\n");
        world.run(&["tenant", "set", "acme", "--tz", "Europe/Berlin", "--disable"]).done();
        let acme = world.run(&["tenant", "show", "acme", "--json"]).done().json();
        assert_eq!((&acme["name"], &acme["locale"]), (&json!("Acme"), &json!("de")));
        assert_eq!(acme["brand"]["color"], "#0b57a4");
        assert_eq!((&acme["tz"], &acme["disabled"]), (&json!("Europe/Berlin"), &json!(true)));
        let shown = world.run(&["tenant", "show", "acme"]).done().out;
        assert!(shown.contains("brand.color") && shown.contains("#0b57a4"), "{shown}");
        // What is shown can be set again.
        let copy = world.file("copy.json", &acme.to_string());
        let copy = ["tenant", "set", "b/2", "--file", &copy, "--enable"];
        world.run(&copy).done();
        let listed = world.run(&["tenant", "list"]).done().out;
        let rows: Vec<Vec<&str>> =
            listed.lines().map(|row| row.split_whitespace().collect()).collect();
        assert_eq!(rows[1], ["acme", "Acme", "de", "Europe/Berlin", "true"]);
        assert_eq!(rows[2], ["b/2", "Acme", "de", "Europe/Berlin", "false"]);
        let first = world.run(&["tenant", "list", "--limit", "1"]).done().out;
        let (page, cursor) = first.split_once("next page: --cursor ").expect("a second page");
        assert!(page.contains("acme") && !page.contains("b/2"), "{first}");
        let rest = ["tenant", "list", "--limit", "1", "--cursor", cursor.trim()];
        let rest = world.run(&rest).done().out;
        assert!(rest.contains("b/2") && !rest.contains("acme"), "{rest}");
        let unsure = world.run(&["tenant", "delete", "acme"]);
        assert!(unsure.code == 2 && unsure.err.contains("--yes"), "{}", unsure.err);
        world.run(&["tenant", "delete", "acme", "--yes"]).done();
        let gone = world.run(&["tenant", "show", "acme"]);
        assert!(gone.code == 1 && gone.err.contains("unknown tenant `acme`"), "{}", gone.err);
        for (flags, told) in
            [(&["--locale", "de_AT"][..], "de-AT"), (&["--file", "/no/such"], "can't read")]
        {
            let refused = world.run(&[&["tenant", "set", "c"][..], flags].concat());
            assert!(refused.code != 0 && refused.err.contains(told), "{}", refused.err);
        }
    });
}

#[test]
fn t42_members_are_added_listed_and_removed_and_an_export_is_of_one_tenant() {
    both(|world| {
        for tenant in ["acme", "globex"] {
            world.run(&["tenant", "set", tenant]).done();
        }
        world.run(&["tenant", "add-member", "acme", "b/ob"]).done();
        world.run(&["tenant", "add-member", "globex", "ann"]).done();
        let members = |tenant: &str| {
            let listed = world.run(&["tenant", "members", tenant, "--json"]).done().json();
            let ids = listed["members"].as_array().unwrap().iter();
            ids.map(|member| member["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(members("acme"), ["b/ob"]);
        assert!(world.run(&["tenant", "members", "acme"]).done().out.contains("b/ob"));
        let ann = world.run(&["recipient", "ann", "--json"]).done().json();
        assert_eq!(ann["tenants"], json!(["globex"]));
        let lines = world.run(&["export", "--tenant", "acme"]).done().lines();
        let ops: Vec<_> = lines.iter().map(|line| line["op"].as_str().unwrap()).collect();
        assert_eq!(ops, ["tenant", "recipient", "member"]);
        assert_eq!((&lines[0]["id"], &lines[1]["id"]), (&json!("acme"), &json!("b/ob")));
        let all = world.run(&["export"]).done().lines();
        assert_eq!(all.iter().filter(|line| line["op"] == "tenant").count(), 2);
        world.run(&["tenant", "remove-member", "acme", "b/ob"]).done();
        assert_eq!(members("acme"), [] as [&str; 0]);
        assert!(world.run(&["tenant", "members", "acme"]).done().out.contains("No members"));
        for refused in [
            &["export", "--tenant", "acne"][..],
            &["tenant", "members", "acne"],
            &["tenant", "add-member", "acne", "ann"],
        ] {
            let refused = world.run(refused);
            assert!(refused.code == 1 && refused.err.contains("`acme`"), "{}", refused.err);
        }
    });
}

#[test]
fn t42_tenants_that_are_off_are_told_with_the_key() {
    let world = World::new().with_people();
    let refused = world.run(&["tenant", "set", "acme"]);
    assert!(refused.code == 1 && refused.err.contains("[tenants]"), "{}", refused.err);
}
