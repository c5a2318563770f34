package sqlfile_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plinthgo/plinth/core/major/xdb/migrate/internal/sqlfile"
)

var known = []string{"mysql", "oracle", "postgres", "sqlite", "sqlserver"}

func files(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for pair := range slices.Chunk(pairs, 2) {
		m[pair[0]] = &fstest.MapFile{Data: []byte(pair[1])}
	}
	return m
}

func TestRead(t *testing.T) {
	t.Run("orders files by version", func(t *testing.T) {
		sets := []fs.FS{
			files("migrations/0002_b.sql", "b", "migrations/README.md", "x",
				"migrations/deep/0001_a.sqlite.sql", "a"),
			files("0003.sql", "c", "0002_b.sqlite.sql", "B", "0002_b.postgres.sql", "P",
				"10.sql", "e", "9_x.sql", "d"),
		}
		all, err := sqlfile.Read(known, []string{"sqlite"}, sets...)
		if err != nil {
			t.Fatal(err)
		}
		var migrations []string
		for _, f := range all {
			migrations = append(migrations, f.Migration+"="+f.Statements[0].SQL)
		}
		got := strings.Join(migrations, " ")
		if want := "0001_a.sql=a 0002_b.sql=B 0003.sql=c 9_x.sql=d 10.sql=e"; got != want {
			t.Errorf("migrations = %s, want %s", got, want)
		}
	})

	t.Run("selects the variant of the database", func(t *testing.T) {
		drivers := append([]string{"cockroach"}, known...)
		set := files("1.sql", "default", "1.postgres.sql", "postgres",
			"1.cockroach.sql", "cockroach")
		for _, tc := range []struct {
			name     string
			dialects []string
			want     string
		}{
			{name: "driver", dialects: []string{"cockroach", "postgres"}, want: "cockroach"},
			{name: "dialect", dialects: []string{"other", "postgres"}, want: "postgres"},
			{name: "default", dialects: []string{"sqlite", "sqlite"}, want: "default"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				all, err := sqlfile.Read(drivers, tc.dialects, set)
				if err != nil || all[0].Statements[0].SQL != tc.want {
					t.Errorf("file = %+v, %v; want %q", all[0], err, tc.want)
				}
			})
		}
		_, err := sqlfile.Read(known, []string{"sqlite"}, files("2.mysql.sql", "mysql"))
		if err == nil || !strings.Contains(err.Error(), "migration 2.sql has no file for sqlite") {
			t.Errorf("error = %v, want the missing file", err)
		}
	})

	t.Run("normalizes line endings for the digest", func(t *testing.T) {
		digest := func(text string) string {
			all, err := sqlfile.Read(known, []string{"sqlite"}, files("1.sql", text))
			if err != nil {
				t.Fatal(err)
			}
			return all[0].SHA256
		}
		want := digest("a\nb\n")
		// sha256sum prints this digest of the four bytes. Stored digests must not change.
		if want != "911169ddaaf146aff539f58c26c489af3b892dff0fe283c1c264c65ae5aa59a2" {
			t.Errorf("digest = %s", want)
		}
		if got := digest("\xef\xbb\xbfa\r\nb\r\n"); got != want {
			t.Errorf("digest = %s, want %s", got, want)
		}
		if got := digest("a\nb"); got == want {
			t.Error("different files have the same digest")
		}
	})

	t.Run("reports invalid files", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			set  fs.FS
			want string
		}{
			{name: "nil", want: "migration files 1 are nil"},
			{
				name: "no file", set: files("README.md", ""),
				want: "migration files 1 contain no .sql file: check the embed pattern",
			},
			{
				name: "no version", set: files("users.sql", ""),
				want: "migration users.sql: the name must be a version of at most 18 digits",
			},
			{
				name: "a space", set: files("1_a b.sql", ""),
				want: "migration 1_a b.sql: the name must be a version",
			},
			{
				name: "a long version", set: files("1234567890123456789.sql", ""),
				want: "the name must be a version",
			},
			{
				name: "a long name", set: files("1_"+strings.Repeat("a", 200)+".sql", ""),
				want: "longer than 120 bytes",
			},
			{
				name: "a typo in the variant", set: files("1_a.postgre.sql", ""),
				want: `migration 1_a.postgre.sql: "postgre" is not a known database ` +
					"(known: mysql, oracle, postgres, sqlite, sqlserver)",
			},
			{
				name: "two dots", set: files("1_a.b.sqlite.sql", ""),
				want: `"b.sqlite" is not a known database`,
			},
			{
				name: "an empty variant", set: files("1_a..sql", ""),
				want: `"" is not a known database`,
			},
			{
				name: "upper case", set: files("1_a.SQL", ""),
				want: "migration 1_a.SQL: the file extension must be .sql",
			},
			{
				name: "another encoding", set: files("1_a.sql", "\xff\xfea\x00"),
				want: "migration 1_a.sql: the text is not UTF-8",
			},
			{
				name: "two files with the same name", set: files("a/1_a.sql", "", "b/1_a.sql", ""),
				want: "migration 1_a.sql exists twice: a/1_a.sql and b/1_a.sql",
			},
			{
				name: "duplicate version", set: files("1_a.sql", "", "1_b.sql", ""),
				want: "migration 1_b.sql: 1_a.sql has the same version",
			},
			{
				name: "duplicate version with padding", set: files("01_a.sql", "", "1_b.sql", ""),
				want: "migration 1_b.sql: 01_a.sql has the same version",
			},
			{
				name: "the up part of another tool", set: files("1_a.up.sql", ""),
				want: `migration 1_a.up.sql: "up" is not a known database ` +
					"(known: mysql, oracle, postgres, sqlite, sqlserver); " +
					"a name must not contain another dot, and down migrations are not supported",
			},
			{
				name: "the down part of another tool", set: files("1_a.postgres.Down.sql", ""),
				want: `migration 1_a.postgres.Down.sql: "postgres.Down" is not a known database`,
			},
			{
				name: "a lone carriage return", set: files("1_a.sql", "a\r\n-- b\rc\n"),
				want: "migration 1_a.sql:2: a carriage return without a line feed",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				_, err := sqlfile.Read(known, nil, tc.set)
				if err == nil || strings.Contains(err.Error(), "\n") ||
					!strings.Contains(err.Error(), tc.want) {
					t.Errorf("problems = %v, want only %q", err, tc.want)
				}
			})
		}
		_, err := sqlfile.Read(known, nil, nil, files("a.sql", "", "1.x.sql", ""),
			files("2.sql", "\xff"))
		if err == nil || strings.Count(err.Error(), "\n") != 3 {
			t.Errorf("problems = %v, want 4", err)
		}
	})
}
