package sqlserver_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/migrate"
	"github.com/plinthgo/plinth/dbplugins/sqlserver"
)

// numberReply returns a result of one number.
func numberReply(n int64) tdsReply {
	return tdsReply{Columns: []tdsColumn{tdsBigInt("")}, Rows: [][]any{{n}}}
}

// locks counts the lock requests.
func locks(s *tdsServer) (n int) {
	for _, r := range s.Requests() {
		if strings.Contains(r.SQL, "sp_getapplock") {
			n++
		}
	}
	return n
}

func TestDriver_Migrate(t *testing.T) {
	t.Run("holds the lock on its own connection", func(t *testing.T) {
		s := startDouble(t, nil)
		db, _ := open(t, s, xdb.Options{})
		s.Reset()
		for _, want := range []error{nil, errors.New("boom")} {
			err := sqlserver.Driver{}.Migrate(t.Context(), db, func(tx *gorm.DB) error {
				if err := tx.Exec("CREATE TABLE a (x int)").Error; err != nil {
					t.Error(err)
				}
				return want
			})
			if !errors.Is(err, want) {
				t.Errorf("Migrate = %v, want %v", err, want)
			}
			all := requests(s)
			if len(all) != 2 || locks(s) != 1 || all[1].SQL != "CREATE TABLE a (x int)" {
				t.Errorf("requests = %+v, want the lock and the statement", all)
			}
			eventually(t, "the connection is closed", func() bool { return s.Connections() == 0 })
			s.Reset()
		}
	})

	t.Run("waits for the lock", func(t *testing.T) {
		var tries atomic.Int32
		s := startDouble(t, func(r tdsRequest) (tdsReply, bool) {
			if !strings.Contains(r.SQL, "sp_getapplock") {
				return tdsReply{}, false
			}
			if tries.Add(1) < 5 {
				return numberReply(-1), true
			}
			return numberReply(1), true
		})
		db, _ := open(t, s, xdb.Options{})
		ran := false
		err := sqlserver.Driver{}.Migrate(t.Context(), db,
			func(*gorm.DB) error { ran = true; return nil })
		if err != nil || !ran || locks(s) != 5 {
			t.Errorf("Migrate = %v, lock requests = %d", err, locks(s))
		}
	})

	// A migration is one transaction, which the server rolls back if it fails.
	t.Run("runs a file in one transaction", func(t *testing.T) {
		s := startDouble(t, when("broken", tdsFail(208, "Invalid object name 'broken'.")))
		db, _ := open(t, s, xdb.Options{})
		s.Reset()
		files := fstest.MapFS{"0001_a.sql": {Data: []byte(
			"CREATE TABLE a (x int);\nINSERT INTO broken VALUES (1);")}}
		err := migrate.Apply(t.Context(), db, files)
		if err == nil || !strings.Contains(err.Error(), "0001_a.sql:2: ") {
			t.Errorf("Apply = %v, want the line of the statement", err)
		}
		var got []string
		for _, r := range requests(s) {
			switch {
			case r.SQL == "":
				got = append(got, string(r.Kind))
			case strings.Contains(r.SQL, "sp_getapplock"):
				got = append(got, "lock")
			case strings.Contains(r.SQL, "TABLE a"), strings.Contains(r.SQL, "broken VALUES"):
				got = append(got, strings.Fields(r.SQL)[0])
			}
		}
		if want := []string{"lock", "begin", "CREATE", "INSERT", "rollback"}; len(got) < 5 ||
			!slices.Equal(got[:5], want) {
			t.Errorf("requests = %v, want %v", got, want)
		}
	})
}

func TestDriver_Migrate_LockErrors(t *testing.T) {
	for _, tc := range []struct {
		name  string
		reply tdsReply
		want  driver.ErrorKind
	}{
		{name: "canceled", reply: numberReply(-2), want: driver.Unknown},
		{name: "invalid call", reply: numberReply(-999), want: driver.Unknown},
		{
			name:  "no permission",
			reply: tdsFail(229, "The EXECUTE permission was denied"),
			want:  driver.Authentication,
		},
		{name: "connection", reply: tdsReply{Cut: true}, want: driver.Connection},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := startDouble(t, when("sp_getapplock", tc.reply))
			db, _ := open(t, s, xdb.Options{})
			s.Reset()
			err := sqlserver.Driver{}.Migrate(t.Context(), db, func(*gorm.DB) error {
				t.Error("Migrate called run without the lock")
				return nil
			})
			if err == nil || driver.KindOf(err) != tc.want || locks(s) != 1 {
				t.Errorf("Migrate = %v, kind %v, lock requests = %d; want %v and 1",
					err, driver.KindOf(err), locks(s), tc.want)
			}
			eventually(t, "the connection is closed", func() bool { return s.Connections() == 0 })
		})
	}
}
