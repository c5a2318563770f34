package sqlfile_test

import (
	"testing"

	"github.com/plinthgo/plinth/core/major/xdb/migrate/internal/sqlfile"
)

func TestVersionOf(t *testing.T) {
	for _, tc := range []struct {
		name string
		want uint64
		ok   bool
	}{
		{name: "0001_users.sql", want: 1, ok: true},
		{name: "10.sql", want: 10, ok: true},
		{name: "999999999999999999-a.sql", want: 999999999999999999, ok: true},
		{name: "0001_users"},
		{name: "0001_users.sqlite.sql"},
		{name: "users.sql"},
		{name: "1234567890123456789.sql"},
		{name: ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, ok := sqlfile.VersionOf(tc.name); got != tc.want || ok != tc.ok {
				t.Errorf("VersionOf = %d, %t; want %d, %t", got, ok, tc.want, tc.ok)
			}
		})
	}
	all, err := sqlfile.Read(known, []string{"mysql"}, files("0007_a.mysql.sql", ""))
	if err != nil || all[0].Version != 7 {
		t.Errorf("migrations = %v, %v; want one with version 7", all, err)
	}
}
