package sqlfile_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/major/xdb/internal/sqlscan"
	"github.com/plinthgo/plinth/core/major/xdb/migrate/internal/sqlfile"
)

func read(text, dialect string) (f sqlfile.File, err error) {
	all, err := sqlfile.Read(nil, []string{cmp.Or(dialect, "other")}, files("1.sql", text))
	if len(all) > 0 { // Read may reject the text without splitting it
		f = all[0]
	}
	return f, err
}

// split returns the statements of text with their line numbers, and whether the file
// contains the no-transaction directive.
func split(text, dialect string) (statements []string, noTransaction bool, err error) {
	f, err := read(text, dialect)
	for i, s := range f.Statements {
		statements = append(statements, fmt.Sprintf("%d:%s", f.Line(i), s.SQL))
	}
	return statements, f.NoTransaction, err
}

func TestRead_Split(t *testing.T) {
	t.Run("splits statements", func(t *testing.T) {
		for _, tc := range []struct {
			name, dialect, text string
			want                []string
		}{
			{name: "nothing", text: " \n-- x\n;/* y; */;\n"},
			{
				name: "last statement without a semicolon", text: "a;\n\n  b c\n;d",
				want: []string{"1:a", "3:b c", "4:d"},
			},
			{
				name: "comments before and within",
				text: "-- one;\n/* two; */ a /* three; */ b -- four\n;",
				want: []string{"2:a /* three; */ b"},
			},
			{
				name: "semicolons in strings", text: "a ';' \";\" `;`;b",
				want: []string{"1:a ';' \";\" `;`", "1:b"},
			},
			{name: "line breaks in strings", text: "a '\n';\nb", want: []string{"1:a '\n'", "3:b"}},
			{
				name: "escapes of mysql", dialect: "mysql", text: `a '\';';b`,
				want: []string{`1:a '\';'`, "1:b"},
			},
			{
				name: "dollar quotes", dialect: "postgres", text: "DO $$ BEGIN a; END $$;b",
				want: []string{"1:DO $$ BEGIN a; END $$", "1:b"},
			},
			{
				name: "block",
				text: "a;\n-- plinth:begin\n\nCREATE TRIGGER t BEGIN b; END;\n-- plinth:end\nc;",
				want: []string{"1:a", "4:CREATE TRIGGER t BEGIN b; END;", "6:c"},
			},
			{
				name: "block with an unmatched quote",
				text: "-- plinth:begin\nit's;\n  --  plinth:end  ",
				want: []string{"2:it's;"},
			},
			{
				name: "empty block", text: "-- plinth:begin\n\n-- plinth:end\nb",
				want: []string{"4:b"},
			},
			{
				name: "block with comments only", text: "-- plinth:begin\n-- a\n-- plinth:end\nb",
				want: []string{"4:b"},
			},
			{
				name: "GO of sqlserver", dialect: "sqlserver",
				text: "a\n go \nb\nGO\n Go\nSELECT go\nFROM c",
				want: []string{"1:a", "3:b", "6:SELECT go\nFROM c"},
			},
			{
				name: "GO elsewhere", dialect: "sqlite", text: "a\nGO\nb",
				want: []string{"1:a\nGO\nb"},
			},
			{
				name: "slash of oracle", dialect: "oracle", text: "a / b;\n/\nDROP c;\n/\n",
				want: []string{"1:a / b", "3:DROP c"},
			},
			{
				name: "executed comments of mysql", dialect: "mysql",
				text: "/*!40101 SET a = 1 */;", want: []string{"1:/*!40101 SET a = 1 */"},
			},
			{
				name: "a column called begin", text: "CREATE TABLE event (begin int)",
				want: []string{"1:CREATE TABLE event (begin int)"},
			},
			{
				name: "a trigger of one statement", dialect: "mysql",
				text: "CREATE TRIGGER t BEFORE INSERT ON x FOR EACH ROW SET a = 1;",
				want: []string{"1:CREATE TRIGGER t BEFORE INSERT ON x FOR EACH ROW SET a = 1"},
			},
			{
				name: "a function in dollar quotes", dialect: "postgres",
				text: "CREATE OR REPLACE FUNCTION f() AS $x$ BEGIN a; END $x$;",
				want: []string{"1:CREATE OR REPLACE FUNCTION f() AS $x$ BEGIN a; END $x$"},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				got, noTransaction, err := split(tc.text, tc.dialect)
				if err != nil || !slices.Equal(got, tc.want) || noTransaction {
					t.Errorf("statements = %q, %t, %v; want %q", got, noTransaction, err, tc.want)
				}
			})
		}
	})

	t.Run("recognizes the no-transaction directive", func(t *testing.T) {
		got, noTransaction, err := split("-- why\n-- plinth:no-transaction\na", "")
		if err != nil || !noTransaction || len(got) != 1 {
			t.Errorf("statements = %q, %t, %v", got, noTransaction, err)
		}
	})

	t.Run("rejects invalid statements", func(t *testing.T) {
		for _, tc := range []struct{ name, dialect, text, want string }{
			{
				name: "unterminated string", text: "a;\nb 'c",
				want: "migration 1.sql:2: unterminated string",
			},
			{name: "unterminated comment", text: "a;\n\n/* c", want: "1.sql:3: unterminated"},
			{
				name: "unterminated block", text: "\n-- plinth:begin\na;",
				want: "1.sql:2: -- plinth:begin without -- plinth:end",
			},
			{
				name: "block in a block", text: "-- plinth:begin\na;\n-- plinth:begin",
				want: "1.sql:3: -- plinth:begin within a block",
			},
			{
				name: "end without begin", text: "a;\n-- plinth:end",
				want: "1.sql:2: -- plinth:end without -- plinth:begin",
			},
			{
				name: "block after a statement", text: "a\n-- plinth:begin\nb;\n-- plinth:end",
				want: "1.sql:1: the statement before -- plinth:begin is not terminated",
			},
			{
				name: "unknown directive", text: "-- plinth:beginn",
				want: "-- plinth:beginn is unknown",
			},
			{
				name: "directive after a statement", text: "a; -- plinth:begin\n-- plinth:end",
				want: "-- plinth:begin must be on a line of its own",
			},
			{
				name: "no-transaction after a statement", text: "a;\n-- plinth:no-transaction",
				want: "1.sql:2: -- plinth:no-transaction must precede the first statement",
			},
			{
				name: "begin", text: "a;\nBEGIN;\nb",
				want: "1.sql:2: BEGIN starts or ends a transaction",
			},
			{name: "commit", text: "commit", want: "COMMIT starts or ends"},
			{name: "rollback", text: "ROLLBACK TO x", want: "ROLLBACK starts or ends"},
			{
				name: "start", text: "/* x */ Start /* y */ Transaction",
				want: "START TRANSACTION starts or ends",
			},
			{name: "savepoint", text: "SAVEPOINT x", want: "SAVEPOINT starts or ends"},
			{
				name: "save", dialect: "sqlserver", text: "SAVE TRAN x",
				want: "SAVE TRAN starts or ends",
			},
			{
				name: "trigger", dialect: "sqlite",
				text: "\nCREATE TEMP TRIGGER t AFTER INSERT ON x BEGIN a; END",
				want: "1.sql:2: CREATE TRIGGER with a BEGIN contains semicolons that do not end " +
					"the statement: put it between the lines -- plinth:begin and -- plinth:end",
			},
			{
				name: "definer", dialect: "mysql",
				text: "CREATE DEFINER = root@localhost PROCEDURE p() BEGIN a; END",
				want: "CREATE PROCEDURE with a BEGIN",
			},
			{
				name: "quoted definer", dialect: "mysql",
				text: "CREATE DEFINER=`root`@`%` EVENT e ON SCHEDULE x DO BEGIN a; END",
				want: "CREATE EVENT with a BEGIN",
			},
			{
				name: "package", dialect: "oracle",
				text: "CREATE OR REPLACE PACKAGE p AS PROCEDURE a; END;",
				want: "END closes a transaction or a block",
			},
			{
				name: "anonymous block", dialect: "oracle", text: "DECLARE x NUMBER; BEGIN a; END;",
				want: "DECLARE starts a block",
			},
			{
				name: "procedure of sqlserver", dialect: "sqlserver",
				text: "CREATE PROC p AS SELECT 1; SELECT 2",
				want: "CREATE PROC extends to the end of its batch",
			},
			{
				name: "delimiter", dialect: "mysql", text: "DELIMITER //\na //",
				want: "DELIMITER is a client command",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if got, _, err := split(tc.text, tc.dialect); err == nil ||
					!strings.Contains(err.Error(), tc.want) {
					t.Errorf("statements = %q, error = %v; want %q", got, err, tc.want)
				}
			})
		}
	})

	t.Run("computes digests without comments", func(t *testing.T) {
		digests := func(text string) (all []string) {
			f, err := read(text, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range f.Statements {
				all = append(all, s.Digest)
			}
			return all
		}
		ab := digests("a;b")
		if got := digests("-- x\na;\n\n/* y */ b;"); !slices.Equal(got, ab) {
			t.Error("comments change the digests")
		}
		if got := digests("a;c"); got[0] != ab[0] || got[1] == ab[1] {
			t.Error("a digest does not cover all statements up to its statement")
		}
		if got := digests("ab"); got[0] == ab[1] {
			t.Error("other statements have the same digest")
		}
	})

	// A dump may contain hundreds of thousands of tokens on one line.
	t.Run("reads long lines", func(t *testing.T) {
		text := "INSERT INTO t VALUES " + strings.Repeat("(1, 'abc', 2), ", 60_000) + "(1, 'a', 2)"
		for _, dialect := range []string{"postgres", "sqlserver", "oracle"} {
			if got, _, err := split(text, dialect); err != nil || len(got) != 1 {
				t.Errorf("%s: %d statements, %v; want 1", dialect, len(got), err)
			}
		}
	})
}

// words returns the tokens of sql without comments, space and semicolons.
func words(sql, dialect string) (tokens []string) {
	s := sqlscan.New(sql, sqlscan.RulesOf(dialect))
	for s.More() {
		t := s.Next()
		if text := sql[t.Start:t.End]; t.Kind != sqlscan.Comment && t.Kind != sqlscan.Space &&
			text != ";" {
			tokens = append(tokens, text)
		}
	}
	return tokens
}

// FuzzSplit checks that the statements contain every token of the file in order, and that
// the line number of each statement is correct.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"a;b", "a ';' -- ;\n;b", "-- plinth:begin\na;b\n-- plinth:end\n",
		"-- plinth:no-transaction\na", "$$;$$", `'\';'`, "a\nGO\nb",
		"a\n/\nb", "/* /* ; */ */", "CREATE TRIGGER t BEGIN", "[;]", "\n\n'x",
		"-- plinth:begin\n'\n-- plinth:end",
		"a (b; (c));)", "(\n/\n)", "a\nGO;\nGO 5", "/*M!a*/;", "\\d", "-- +goose Up",
		"COPY a FROM STDIN", "SET @@autocommit = 0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// The separator lines of SQL Server and Oracle are not part of a statement.
		separated := strings.Contains(text, "/") || strings.Contains(strings.ToUpper(text), "GO")
		for _, dialect := range []string{"", "mysql", "sqlite", "postgres", "sqlserver", "oracle"} {
			script, err := read(text, dialect)
			if err != nil || strings.HasPrefix(text, "\ufeff") {
				continue
			}
			lines := strings.Split(text, "\n")
			var got []string
			for i, s := range script.Statements {
				// The next byte can change the kind of the last token.
				got = append(got, words(s.SQL+";", dialect)...)
				first, _, _ := strings.Cut(s.SQL, "\n")
				if !strings.Contains(lines[script.Line(i)-1], first) {
					t.Errorf("%q is not on line %d of %q", s.SQL, script.Line(i), text)
				}
			}
			if separated && (dialect == "sqlserver" || dialect == "oracle") {
				continue
			}
			// A block may contain an unterminated quotation, which changes the tokens of
			// the whole text.
			if want := words(text, dialect); !strings.Contains(text, "plinth:") &&
				!slices.Equal(got, want) {
				t.Errorf("%s: tokens of the statements = %q, want %q", dialect, got, want)
			}
		}
	})
}
