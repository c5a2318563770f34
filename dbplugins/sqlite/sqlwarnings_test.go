package sqlite_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/major/xdb/migrate"
)

func TestMigrate_Warnings(t *testing.T) {
	log, ctx := logged(t)
	db := open(t, file(t))
	all := sqlFiles("0001_a.sql", "CREATE TABLE runs (name TEXT);",
		"0002_b.sql", "", "0003_c.sql", "-- nothing")
	if err := migrate.Apply(ctx, db, all); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		files fs.FS
		want  []string
	}{
		{
			name:  "newer program",
			files: sqlFiles("0001_a.sql", "CREATE TABLE runs (name TEXT);", "0002_b.sql", ""),
			want: []string{
				`"info"`, "the database has a migration of a newer program", "0003_c.sql",
			},
		},
		{
			name: "missing file",
			files: sqlFiles("0001_a.sql", "CREATE TABLE runs (name TEXT);",
				"0003_c.sql", "-- nothing"),
			want: []string{`"warn"`, "an applied migration has no file", "0002_b.sql"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log.Reset()
			if err := migrate.Apply(ctx, db, tc.files); err != nil {
				t.Error(err)
			}
			for line := range strings.Lines(log.String()) {
				if strings.Contains(line, tc.want[0]) && strings.Contains(line, tc.want[1]) &&
					strings.Contains(line, tc.want[2]) {
					return
				}
			}
			t.Errorf("no log line contains %q:\n%s", tc.want, log)
		})
	}
}
