package sqlserver_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xdb"
)

// leaseServer responds to the statements of leases.
type leaseServer struct {
	rows     [][]any  // rows of the next queries
	affected []uint64 // affected rows of the next writes; 1 by default
}

func (l *leaseServer) respond(r tdsRequest) (tdsReply, bool) {
	switch {
	case strings.HasPrefix(r.SQL, "SELECT c.now_us"):
		row := []any{int64(1000), nil, nil, nil, nil, nil, nil, nil} // only the time, no lease row
		if len(l.rows) > 0 {
			row, l.rows = l.rows[0], l.rows[1:]
		}
		return tdsReply{Columns: []tdsColumn{
			tdsBigInt("now_us"), tdsBigInt("slot"), tdsBigInt("slots"), tdsNVarChar("holder"),
			tdsBigInt("token"), tdsBigInt("mark"), tdsBigInt("since_us"), tdsBigInt("until_us"),
		}, Rows: [][]any{row}}, true
	case strings.HasPrefix(r.SQL, `SELECT "id" FROM "app_plinth_leases"`):
		return tdsReply{Columns: []tdsColumn{tdsNVarChar("id")}, Rows: [][]any{{"old"}, {"older"}}},
			true
	case strings.HasPrefix(r.SQL, "UPDATE") && len(l.affected) > 0:
		n := l.affected[0]
		l.affected = l.affected[1:]
		return tdsReply{Affected: n}, true
	default:
		return tdsReply{}, false
	}
}

func TestStatements_Lease(t *testing.T) {
	l := &leaseServer{
		rows: [][]any{
			nil, nil, // setup, and a name without a row
			// expired
			{
				int64(5000), int64(1), int64(3), "another holder",
				int64(4000), int64(7), int64(100), int64(4500),
			},
			// held
			{
				int64(6000), int64(0), int64(1), "another holder",
				int64(4000), int64(7), int64(100), int64(9000),
			},
			// after a renewal
			{
				int64(7000), int64(0), int64(1), "another holder",
				int64(4000), int64(7), int64(100), int64(9000),
			},
			// removed
			{int64(8000), nil, nil, nil, nil, nil, nil, nil},
		},
		affected: []uint64{1, 0, 0, 1},
	}
	empty := []any{int64(1000), nil, nil, nil, nil, nil, nil, nil}
	l.rows[0], l.rows[1] = empty, empty
	s := startDouble(t, l.respond)
	db, _ := open(t, s, xdb.Options{TablePrefix: "app_"})
	s.Reset()
	leases, err := xdb.Leases(db)
	if err != nil {
		t.Fatal(err)
	}
	b := leases.Backend()
	ctx := context.WithoutCancel(t.Context())
	one := leasedriver.Request{Name: "job", Count: 1, Holder: "HOLDER", TTL: time.Minute, Mark: 5}
	got, err := b.Acquire(ctx, one)
	if want := (leasedriver.Grant{OK: true, Token: 1000}); err != nil || got != want {
		t.Errorf("acquire without a row = %+v, %v; want %+v", got, err, want)
	}
	eventually(t, "the sweep", func() bool {
		return strings.Contains(fmt.Sprint(s.Requests()), `DELETE FROM "app_plinth_leases"`)
	})
	many := leasedriver.Request{
		Name: "nodes", First: 1, Count: 1, Begin: 1, Holder: "HOLDER", TTL: time.Minute,
	}
	got, err = b.Acquire(ctx, many)
	want := leasedriver.Grant{OK: true, Slot: 1, Token: 5000, Mark: 7, Age: 4900 * time.Microsecond}
	if err != nil || got != want {
		t.Errorf("acquire an expired lease = %+v, %v; want %+v", got, err, want)
	}
	if got, err = b.Acquire(ctx, one); err != nil || got.OK || got.Wait != 3*time.Millisecond {
		t.Errorf("acquire a held lease = %+v, %v", got, err)
	}
	h := leasedriver.Holding{Name: "job", Holder: "HOLDER", Token: 1000, TTL: time.Minute, Mark: 9}
	for _, want := range []bool{false, true} { // another holder; the row was removed
		if held, err := b.Renew(ctx, h); err != nil || held != want {
			t.Errorf("renew = %t, %v; want %t", held, err, want)
		}
	}
	if held, err := b.Release(ctx, h); err != nil || !held {
		t.Errorf("release = %t, %v", held, err)
	}
	var text strings.Builder
	for _, r := range requests(s) {
		text.WriteString(formatRequest(r, map[int64]int{}))
	}
	compareLeases(t, text.String())
}

// compareLeases compares requests with testdata/lease.golden.
func compareLeases(t *testing.T, got string) {
	t.Helper()
	file := filepath.Join("testdata", "lease.golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("statements differ from %s; use -update to rewrite it:\n%s", file, got)
	}
}
