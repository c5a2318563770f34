package sqlite_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	gormsqlite "github.com/glebarez/sqlite"

	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

func TestDialector_QuoteTo(t *testing.T) {
	dialector := sqlite.Driver{}.Dialector(":memory:")
	for _, name := range []string{
		"", "users", "a b", "größe", `a"b`, "a'b", "*", "main.users", "a.b.c", ".", "a.", ".a", "`",
		"``", "`a`", "a`b", "a``b",
		"`a`.`b`", "`a.b`", "a`.b",
	} {
		var got, want strings.Builder
		dialector.QuoteTo(&got, name)
		gormsqlite.Dialector{}.QuoteTo(&want, name)
		if got.String() != want.String() {
			t.Errorf("%q is quoted as %s, want %s", name, &got, &want)
		}
	}
}

func TestConn_CheckNamedValue(t *testing.T) {
	t.Run("stores times as the library does", func(t *testing.T) {
		noon := time.Date(2025, 3, 4, 12, 0, 0, 123_456_000, time.UTC)
		times := []time.Time{
			{},
			noon, noon, noon.Add(time.Hour).In(time.FixedZone("", 5400)),
			noon.Add(999 * time.Nanosecond), noon.Add(time.Microsecond),
			noon.Truncate(time.Second), noon.AddDate(-3000, 0, 0), noon.AddDate(9000, 0, 0), noon,
		}
		texts := func(pool *sql.DB, stored func(time.Time) any) []string {
			c, err := pool.Conn(t.Context()) // one connection converts all times
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			var texts []string
			for _, at := range times {
				var text string
				row := c.QueryRowContext(t.Context(), "SELECT ? || ''", stored(at))
				if err := row.Scan(&text); err != nil {
					t.Fatal(err)
				}
				texts = append(texts, text)
			}
			return texts
		}
		pool, err := open(t, file(t)).DB()
		if err != nil {
			t.Fatal(err)
		}
		library, err := sql.Open(gormsqlite.DriverName, ":memory:")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = library.Close() }()
		got := texts(pool, func(at time.Time) any { return at })
		want := texts(library,
			func(at time.Time) any { return at.UTC().Truncate(time.Microsecond) })
		if !slices.Equal(got, want) {
			t.Errorf("stored\n%q, want\n%q", got, want)
		}
	})
}
