package xdb_test

import (
	"testing"

	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// advising is a fakeDriver that returns the warnings of a Config.
type advising struct{ *fakeDriver }

func (advising) Advice(c driver.Config) []string { return c.Advice() }

func TestOpen_Advice(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options xdb.Options
		want    int
	}{
		{
			name:    "parts without a TLS mode",
			options: xdb.Options{Driver: "fake", Parts: driver.Config{Host: "db.example.org"}},
			want:    1,
		},
		{
			name: "parts with a TLS mode",
			options: xdb.Options{
				Driver: "fake", Parts: driver.Config{Host: "db", TLS: driver.TLSDisable},
			},
		},
		{
			name: "a DSN",
			options: xdb.Options{
				Driver: "fake", DSN: "fake://db", Parts: driver.Config{Host: "db"},
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, log := logged(t)
			db, err := registryOf(advising{&fakeDriver{}}).Open(ctx, tc.options)
			if err != nil {
				t.Fatal(err)
			}
			if err := xdb.Close(db); err != nil {
				t.Error(err)
			}
			if got := log.count("is not encrypted"); got != tc.want {
				t.Errorf("warnings = %d, want %d:\n%s", got, tc.want, log)
			}
		})
	}
}
