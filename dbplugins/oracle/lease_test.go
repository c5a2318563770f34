package oracle_test

import (
	"context"
	"strings"
	"testing"
	"time"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xdb"
)

// leaseResponses responds to the query of a lease with the time and the row of the lease,
// if any.
func leaseResponses(row ...sqlValue) []response {
	return []response{
		{
			pattern: `^SELECT c\.now_us`,
			columns: []string{
				"NOW_US", "SLOT", "SLOTS", "HOLDER", "TOKEN", "MARK", "SINCE_US", "UNTIL_US",
			},
			types: []string{
				"NUMBER:255", "NUMBER:0", "NUMBER:0", "NCHAR", "NUMBER:0", "NUMBER:0",
				"NUMBER:0", "NUMBER:0",
			},
			rows: [][]sqlValue{row},
		},
		{
			pattern: `^SELECT "ID" FROM`, columns: []string{"ID"}, types: []string{"NCHAR"},
			rows: [][]sqlValue{{"old"}, {"older"}},
		},
	}
}

func TestStatements_Lease(t *testing.T) {
	d := &double{script: leaseResponses("1000", nil, nil, nil, nil, nil, nil, nil)}
	db := openDouble(t, d, nil)
	var b strings.Builder
	var sweep []string
	// record writes the statements of a step. The statements of the concurrent sweep
	// follow at the end.
	record := func(name string) {
		b.WriteString("== " + name + "\n")
		for _, line := range d.statements() {
			checkGrammar(t, name, line)
			if strings.HasPrefix(line, "DELETE") || strings.HasPrefix(line, `SELECT "ID"`) {
				sweep = append(sweep, line)
				continue
			}
			b.WriteString(line + "\n")
		}
		b.WriteByte('\n')
	}
	d.statements()
	leases, err := xdb.Leases(db)
	if err != nil {
		t.Fatal(err)
	}
	backend := leases.Backend()
	ctx := context.WithoutCancel(t.Context())
	preparer, ok := backend.(leasedriver.Preparer)
	if !ok {
		t.Fatal("the backend has no Prepare")
	}
	if err := preparer.Prepare(ctx); err != nil {
		t.Fatal(err)
	}
	record("set up")
	r := leasedriver.Request{Name: "job", Count: 1, Holder: "HOLDER", TTL: time.Minute, Mark: 5}
	got, err := backend.Acquire(ctx, r)
	if want := (leasedriver.Grant{OK: true, Token: 1000}); err != nil || got != want {
		t.Errorf("acquire without a row = %+v, %v; want %+v", got, err, want)
	}
	record("take a name without a row")
	d.setScript(leaseResponses("5000", "0", "1", "another holder", "4000", "7", "100", "4500"))
	got, err = backend.Acquire(ctx, r)
	want := leasedriver.Grant{OK: true, Token: 5000, Mark: 7, Age: 4900 * time.Microsecond}
	if err != nil || got != want {
		t.Errorf("acquire an expired lease = %+v, %v; want %+v", got, err, want)
	}
	record("take what has ended")
	d.setScript(leaseResponses("5000", "0", "1", "another holder", "4000", "7", "100", "9000"))
	if got, err = backend.Acquire(ctx, r); err != nil || got.OK || got.Wait != 4*time.Millisecond {
		t.Errorf("acquire a held lease = %+v, %v", got, err)
	}
	record("look at what is held")
	h := leasedriver.Holding{Name: "job", Holder: "HOLDER", Token: 1000, TTL: time.Minute, Mark: 9}
	if held, err := backend.Renew(ctx, h); err != nil || !held {
		t.Errorf("renew = %t, %v", held, err)
	}
	record("renew")
	if held, err := backend.Release(ctx, h); err != nil || !held {
		t.Errorf("release = %t, %v", held, err)
	}
	record("release")
	for deadline := time.After(5 * time.Second); len(sweep) < 2; {
		select {
		case <-deadline:
			t.Fatalf("statements of the sweep = %q", sweep)
		case <-time.After(5 * time.Millisecond):
			for _, line := range d.statements() {
				checkGrammar(t, "sweep", line)
				sweep = append(sweep, line)
			}
		}
	}
	b.WriteString("== sweep\n" + strings.Join(sweep, "\n") + "\n")
	compare(t, "lease", b.String())
}

// setScript replaces the script.
func (d *double) setScript(script []response) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.script = script
}
