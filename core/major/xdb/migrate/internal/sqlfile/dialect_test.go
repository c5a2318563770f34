package sqlfile_test

import (
	"slices"
	"strings"
	"testing"
)

func TestRead_Dialect(t *testing.T) {
	t.Run("accepts the syntax of the dialect", func(t *testing.T) {
		for _, tc := range []struct {
			name, dialect, text string
			want                []string
		}{
			{
				name: "sqlserver keeps semicolons for MERGE", dialect: "sqlserver",
				text: "MERGE a ;\nb\nGO\nc;;", want: []string{"1:MERGE a ;", "2:b", "4:c;"},
			},
			{
				name: "GO with a semicolon", dialect: "sqlserver", text: "a\nGO;\nb\ngo ; \nc",
				want: []string{"1:a", "3:b", "5:c"},
			},
			{
				name: "GO with a comment", dialect: "sqlserver",
				text: "a\nGO -- why\nb\nGO--; 5\nc", want: []string{"1:a", "3:b", "5:c"},
			},
			{
				name: "GO as a name", dialect: "sqlserver", text: "SELECT\nGO.x",
				want: []string{"1:SELECT\nGO.x"},
			},
			{
				name: "DECLARE of sqlserver in a block", dialect: "sqlserver",
				text: "-- plinth:begin\nDECLARE @a int; SET @a = 1;\n-- plinth:end",
				want: []string{"2:DECLARE @a int; SET @a = 1;"},
			},
			{
				name: "DECLARE elsewhere", dialect: "postgres",
				text: "DECLARE c CURSOR FOR SELECT 1;",
				want: []string{"1:DECLARE c CURSOR FOR SELECT 1"},
			},
			{
				name: "semicolons within parentheses", dialect: "postgres",
				text: "CREATE RULE r AS ON INSERT TO a DO ALSO " +
					"(INSERT INTO b VALUES (1); DELETE FROM c);\nd;",
				want: []string{
					"1:CREATE RULE r AS ON INSERT TO a DO ALSO " +
						"(INSERT INTO b VALUES (1); DELETE FROM c)",
					"2:d",
				},
			},
			{
				name: "parentheses in strings and comments",
				text: "a '(' /* ( */ -- (\n;b ')';c \"(\"",
				want: []string{"1:a '('", "2:b ')'", "2:c \"(\""},
			},
			{
				name: "a parenthesis in a block", text: "-- plinth:begin\na (;\n-- plinth:end\nb;",
				want: []string{"2:a (;", "4:b"},
			},
			{
				name: "a slash after a semicolon or a block is ignored", dialect: "oracle",
				text: "\n/\na;\n/\nb;\n/\n-- plinth:begin\nBEGIN c; END;\n-- plinth:end\n/\nd",
				want: []string{"3:a", "5:b", "8:BEGIN c; END;", "11:d"},
			},
			{
				name: "a slash within parentheses divides", dialect: "oracle",
				text: "SELECT (4\n/\n2) FROM a;\n/\n", want: []string{"1:SELECT (4\n/\n2) FROM a"},
			},
			{
				name: "a type of oracle without a body", dialect: "oracle",
				text: "CREATE TYPE a AS OBJECT (b NUMBER);\nALTER JAVA CLASS c RESOLVE;",
				want: []string{
					"1:CREATE TYPE a AS OBJECT (b NUMBER)",
					"2:ALTER JAVA CLASS c RESOLVE",
				},
			},
			{
				name: "JAVA in a block", dialect: "oracle",
				text: "-- plinth:begin\nCREATE JAVA SOURCE NAMED a AS class A { int b; }\n" +
					"-- plinth:end",
				want: []string{"2:CREATE JAVA SOURCE NAMED a AS class A { int b; }"},
			},
			{
				name: "executed comments of mariadb", dialect: "mysql",
				text: "/*M!100100 SET a = 1 */;\n/* M!b */;",
				want: []string{"1:/*M!100100 SET a = 1 */"},
			},
			{
				name: "directives in upper case", text: "-- Plinth:Begin\na;\n-- PLINTH:END\nb",
				want: []string{"2:a;", "4:b"},
			},
			{
				name: "comments that resemble directives",
				text: "-- goose\n-- +gooseberry\n-- migrate: all of it\na; -- +goose Down\n",
				want: []string{"4:a"},
			},
			{
				name: "COPY of a file or of a query", dialect: "postgres",
				text: "COPY a (stdin) FROM '/x';COPY (SELECT 1 FROM a) TO '/y';",
				want: []string{"1:COPY a (stdin) FROM '/x'", "1:COPY (SELECT 1 FROM a) TO '/y'"},
			},
			{
				name: "a backslash within a line", dialect: "postgres", text: "a \\b",
				want: []string{"1:a \\b"},
			},
			{
				name: "NULL of mysql at the start of a line", dialect: "mysql",
				text: "a (\n\\N, \\N)",
				want: []string{"1:a (\n\\N, \\N)"},
			},
			{
				name: "autocommit in a string", dialect: "mysql", text: "SET a = 'autocommit = 1';",
				want: []string{"1:SET a = 'autocommit = 1'"},
			},
			{
				name: "LOCK TABLE elsewhere", dialect: "postgres", text: "LOCK TABLE a;",
				want: []string{"1:LOCK TABLE a"},
			},
			{
				name: "a block that starts with BEGIN", dialect: "oracle",
				text: "-- plinth:begin\nBEGIN work; COMMIT; END;\n-- plinth:end",
				want: []string{"2:BEGIN work; COMMIT; END;"},
			},
			{
				name: "a sqlserver block that starts with BEGIN", dialect: "sqlserver",
				text: "-- plinth:begin\nBEGIN; a; END;\n-- plinth:end",
				want: []string{"2:BEGIN; a; END;"},
			},
			{
				name: "COMMIT in a procedure", dialect: "postgres",
				text: "-- plinth:begin\nCREATE PROCEDURE p() AS $$ BEGIN COMMIT; END $$\n" +
					"-- plinth:end",
				want: []string{"2:CREATE PROCEDURE p() AS $$ BEGIN COMMIT; END $$"},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				got, _, err := split(tc.text, tc.dialect)
				if err != nil || !slices.Equal(got, tc.want) {
					t.Errorf("statements = %q, %v\nwant %q", got, err, tc.want)
				}
			})
		}
	})

	t.Run("rejects other tools and clients", func(t *testing.T) {
		for _, tc := range []struct{ name, dialect, text, want string }{
			{
				name: "open parenthesis", text: "a;\nb (c,\n(d);\ne (f);",
				want: "1.sql:2: unclosed parenthesis",
			},
			{
				name: "open parenthesis before GO", dialect: "sqlserver", text: "\na (\nGO\nb);",
				want: "1.sql:2: unclosed parenthesis",
			},
			{
				name: "unmatched parenthesis", text: "a (b);\nc (d)\n);",
				want: "1.sql:3: unmatched closing parenthesis",
			},
			{
				name: "GO with a number", dialect: "sqlserver", text: "a\nGO 5\nb",
				want: "1.sql:2: GO with a number repeats a batch, which migrations do not support",
			},
			{
				name: "GO with a number and a comment", dialect: "sqlserver", text: "GO\t5; -- x",
				want: "1.sql:1: GO with a number",
			},
			{
				name: "variable of sqlserver", dialect: "sqlserver",
				text: "\nDECLARE @a int; SET @a = 1;",
				want: "1.sql:2: DECLARE declares a variable that only its own statement can use: " +
					"put every statement that uses it between the lines -- plinth:begin",
			},
			{
				name: "division of oracle by a number at the start of a line", dialect: "oracle",
				text: "SELECT 4\n/\n2",
				want: "1.sql:2: / on a line of its own: " +
					"end the statement before it with a semicolon, or write a division on one line",
			},
			{
				name: "division of oracle by a column at the start of a line", dialect: "oracle",
				text: "UPDATE a SET b = c\n/ \n-- x\nd WHERE e = 1",
				want: "1.sql:2: / on a line of its own: ",
			},
			{
				name: "java of oracle", dialect: "oracle",
				text: "CREATE OR REPLACE AND COMPILE JAVA SOURCE NAMED a AS class A { }",
				want: "CREATE JAVA SOURCE contains semicolons that do not end the statement: " +
					"put it between the lines",
			},
			{
				name: "type body of oracle", dialect: "oracle",
				text: "CREATE OR REPLACE TYPE BODY a AS MEMBER FUNCTION b " +
					"RETURN NUMBER IS c NUMBER; BEGIN",
				want: "BEGIN starts or ends a transaction, " +
					"but the migration already runs in one: remove it; " +
					"if it starts a block of statements, put it",
			},
			{
				name: "directives of goose", text: "-- +goose Up\na;\n-- +goose Down\nb;",
				want: "1.sql:1: -- +goose is a directive of another tool, " +
					"and every section of the file would run: " +
					"keep the up section and remove the directives",
			},
			{
				name: "goose directives without a space", text: "a\n--+GOOSE\n;",
				want: "1.sql:2: -- +goose is a directive",
			},
			{
				name: "directives of sql-migrate", text: "a;\n-- +Migrate Down",
				want: "1.sql:2: -- +migrate is a directive",
			},
			{
				name: "directives of dbmate", text: "a;\n  -- migrate:down",
				want: "1.sql:2: -- migrate: is a directive",
			},
			{
				name: "directives in a block",
				text: "-- plinth:begin\na;\n-- +goose Down\nb;\n-- plinth:end",
				want: "1.sql:3: -- +goose is a directive",
			},
			{
				name: "rows of COPY", dialect: "postgres",
				text: "\ncopy public.a (b, c, d, e, f, g, h, i, j, k, l, m) /* x */ " +
					"from Stdin WITH (FORMAT csv);\n'\n\\.",
				want: "1.sql:2: COPY FROM STDIN reads rows that a migration cannot send: " +
					"write INSERT statements",
			},
			{
				name: "command of psql", dialect: "postgres", text: "a;\n \\echo it's",
				want: `1.sql:2: \ starts a psql command, not SQL: remove it`,
			},
			{
				name: "LOCK TABLES", dialect: "mysql", text: "lock tables a WRITE",
				want: "LOCK TABLES ends the transaction of the migration " +
					"and blocks access to its other tables: remove it",
			},
			{
				name: "UNLOCK TABLES", dialect: "mysql", text: "UNLOCK TABLES",
				want: "UNLOCK TABLES ends the transaction",
			},
			{
				name: "XA", dialect: "mysql", text: "XA START 'a'",
				want: "XA starts or ends a transaction, " +
					"but the migration already runs in one: remove it",
			},
			{
				name: "autocommit", dialect: "mysql", text: "set autocommit=0",
				want: "SET AUTOCOMMIT starts or ends a transaction, " +
					"but the migration already runs in one: remove it",
			},
			{
				name: "autocommit of the session", dialect: "mysql",
				text: "SET SESSION autocommit := 0",
				want: "SET AUTOCOMMIT starts or ends",
			},
			{
				name: "autocommit as a system variable", dialect: "mysql",
				text: "SET @@autocommit = 0",
				want: "SET AUTOCOMMIT starts or ends",
			},
			{
				name: "autocommit as a system variable of the session", dialect: "mysql",
				text: "SET a = 1, @@session.`autocommit` = 0",
				want: "SET AUTOCOMMIT starts or ends",
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

	t.Run("rejects blocks that change the transaction", func(t *testing.T) {
		for _, tc := range []struct{ name, dialect, body, want string }{
			{name: "commit", body: "commit;", want: "COMMIT"},
			{name: "rollback", dialect: "oracle", body: "ROLLBACK; a;", want: "ROLLBACK"},
			{name: "savepoint", body: "SAVEPOINT a;", want: "SAVEPOINT"},
			{name: "start", body: "START TRANSACTION;", want: "START TRANSACTION"},
			{name: "save", dialect: "sqlserver", body: "SAVE TRAN a;", want: "SAVE TRAN"},
			{name: "end", dialect: "postgres", body: "END;", want: "END"},
			{
				name: "autocommit", dialect: "mysql", body: "SET @a = 1; SET autocommit = 0;",
				want: "SET AUTOCOMMIT",
			},
			{name: "begin", body: "BEGIN;", want: "BEGIN"},
			{name: "begin only", body: "BEGIN", want: "BEGIN"},
			{
				name: "begin before statements", dialect: "postgres", body: "BEGIN; a; COMMIT;",
				want: "BEGIN",
			},
			{name: "begin only for sqlserver", dialect: "sqlserver", body: "BEGIN;", want: "BEGIN"},
			{
				name: "begin transaction", dialect: "sqlserver",
				body: "begin transaction; a; COMMIT;",
				want: "BEGIN",
			},
			{name: "begin immediate", dialect: "sqlite", body: "BEGIN IMMEDIATE;", want: "BEGIN"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				got, _, err := split("-- plinth:begin\n-- why\n"+tc.body+"\n-- plinth:end\n",
					tc.dialect)
				want := "1.sql:3: " + tc.want + " starts or ends a transaction, " +
					"but the migration already runs in one: remove it"
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("statements = %q, error = %v; want %q", got, err, want)
				}
			})
		}
	})
}
