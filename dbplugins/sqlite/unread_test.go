package sqlite_test

import (
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

// other is a driver that does not read DATABASE_PATH.
type other struct{ sqlite.Driver }

func (other) DSN(driver.Config) (string, error) { return ":memory:", nil }

func TestOpen_UnusedVariables(t *testing.T) {
	const warning = "DATABASE_PATH is set, but this driver does not read it"
	path := map[string]string{"DATABASE_PATH": ":memory:"}
	for _, tc := range []struct {
		name   string
		driver driver.Driver
		parts  map[string]string
		want   int
	}{
		{name: "set for another driver", driver: other{}, parts: path, want: 1},
		{name: "set for this driver", driver: sqlite.Driver{}, parts: path},
		{
			name:   "common variable",
			driver: other{},
			parts:  map[string]string{"DATABASE_HOST": "h"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var r xdb.Registry
			r.Register(tc.driver)
			lines, ctx := logged(t)
			db, err := r.Open(ctx,
				xdb.Options{Driver: sqlite.Name, Parts: driver.Config{Source: xenv.Map(tc.parts)}})
			if err != nil {
				t.Fatal(err)
			}
			if err := xdb.Close(db); err != nil {
				t.Error(err)
			}
			if got := strings.Count(lines.String(), warning); got != tc.want {
				t.Errorf("warnings = %d, want %d:\n%s", got, tc.want, lines)
			}
		})
	}
}
