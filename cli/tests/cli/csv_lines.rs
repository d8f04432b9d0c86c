//! What could put rows of .csv files beside the wrong labels, ids or columns is refused, by its line.

use super::support::Folder;

#[test]
fn blank_lines_between_rows() {
    let folder = Folder::new();
    // The files have as many rows as each other, but other ones are missing.
    folder.write("one.csv", "x\n1\n\n3\n4\n");
    folder.write("names.csv", "name\na\nb\n\nc\n");
    folder.refuses("map --features one.csv --similarity rbf --k 1", 2, &["one.csv", "line 3 is blank"]);
    folder.write("one.csv", "x\n1\n2\n3\n\n\n");
    let labels = "map --features one.csv --labels names.csv --similarity rbf --k 1";
    folder.refuses(labels, 2, &["names.csv", "line 4 is blank"]);
    folder.write("names.csv", "name\na\n\"\"\nc\n");
    let ids = "map --features one.csv --similarity rbf --k 1 --ids names.csv";
    folder.refuses(ids, 2, &["names.csv", "line 3", "every item needs an id"]);
    // Blank lines at the end do no harm.
    folder.json("map --features one.csv --similarity rbf --k 1");
}

#[test]
fn lines_are_counted_as_editors_count_them() {
    let folder = Folder::new();
    for end in ["\n", "\r\n", "\r"] {
        folder.write("odd.csv", ["a,b", "1,2", "3,x", ""].join(end));
        folder.refuses("map --features odd.csv --k 1", 2, &["row 1, column 1 (line 3)", "'x'"]);
    }
}

#[test]
fn other_separators_are_guessed() {
    let folder = Folder::new();
    folder.write("odd.csv", "a;b\n1,5;2\n");
    folder.refuses("map --features odd.csv --k 1", 2, &["odd.csv"]);
    folder.write("odd.csv", "a;b\n1.5;2\n");
    folder.refuses("map --features odd.csv --k 1", 2, &["'1.5;2'", "separate cells by commas"]);
}

#[test]
fn columns_of_several_files_stand_in_one_order() {
    let folder = Folder::new();
    folder.write("one.csv", "a,b\n1,2\n3,4\n");
    folder.write("two.csv", "b,a\n5,6\n7,8\n");
    folder.refuses(
        "map --features one.csv two.csv --k 1",
        2,
        &["two.csv", "column 0 is 'b', but 'a' in one.csv", "one order"],
    );
    folder.write("two.csv", "5,6\n7,8\n");
    folder.json("map --features one.csv two.csv --k 1");
}
