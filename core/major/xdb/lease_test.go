package xdb_test

import (
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/utils/tests"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/major/xdb"
)

func TestLeases(t *testing.T) {
	plain, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{DisableAutomaticPing: true})
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeDriver{}
	withDriver, err := registryOf(f).Open(t.Context(),
		xdb.Options{Driver: "fake", DSN: "fake://u:hunter2@h/n"})
	if err != nil {
		t.Fatal(err)
	}
	withDialector, err := registryOf(f).Open(t.Context(), xdb.Options{Dialector: f.Dialector("")})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		db   *gorm.DB
		want string
	}{
		{
			name: "a database opened by gorm", db: plain,
			want: "this dummy database was not opened by xdb.Open",
		},
		{name: "a driver without a clock", db: withDriver, want: "the driver fake has no clock"},
		{
			name: "a dialector", db: withDialector,
			want: "database was not opened by the name of a driver",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := xdb.Leases(tc.db)
			if !errors.Is(err, xlease.ErrUnsupported) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want %v and %q", err, xlease.ErrUnsupported, tc.want)
			}
		})
	}
	for _, db := range []*gorm.DB{withDriver, withDialector} {
		if err := xdb.Close(db); err != nil {
			t.Error(err)
		}
		if _, err := xdb.Leases(db); !errors.Is(err, xlease.ErrClosed) {
			t.Errorf("Leases after Close = %v, want %v", err, xlease.ErrClosed)
		}
	}
}
