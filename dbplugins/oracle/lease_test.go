package oracle_test

import (
	"context"
	"strings"
	"testing"
	"time"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xdb"
)

// lookAnswers responds to the query of a lease with its row and the time, or the time
// alone.
func lookAnswers(row ...sqlValue) []answer {
	return []answer{
		{
			pattern: `^SELECT c\.now_us`,
			columns: []string{
				"NOW_US", "SLOT", "SLOTS", "HOLDER", "TOKEN", "MARK", "SINCE_US",
				"UNTIL_US",
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
	d := &double{script: lookAnswers("1000", nil, nil, nil, nil, nil, nil, nil)}
	db := openDouble(t, d, nil)
	var b strings.Builder
	var swept []string
	// note writes the statements of a step. Statements of the concurrent sweep follow at
	// the end.
	note := func(name string) {
		b.WriteString("== " + name + "\n")
		for _, line := range d.taken() {
			checkGrammar(t, name, line)
			if strings.HasPrefix(line, "DELETE") || strings.HasPrefix(line, `SELECT "ID"`) {
				swept = append(swept, line)
				continue
			}
			b.WriteString(line + "\n")
		}
		b.WriteByte('\n')
	}
	d.taken()
	leases, err := xdb.Leases(db)
	if err != nil {
		t.Fatal(err)
	}
	keeper := leases.Backend()
	ctx := context.WithoutCancel(t.Context())
	preparer, ok := keeper.(leasedriver.Preparer)
	if !ok {
		t.Fatal("the backend has no Prepare")
	}
	if err := preparer.Prepare(ctx); err != nil {
		t.Fatal(err)
	}
	note("set up")
	r := leasedriver.Request{Name: "job", Count: 1, Holder: "HOLDER", TTL: time.Minute, Mark: 5}
	got, err := keeper.Acquire(ctx, r)
	if want := (leasedriver.Grant{OK: true, Token: 1000}); err != nil || got != want {
		t.Errorf("acquire without a row = %+v, %v; want %+v", got, err, want)
	}
	note("take a name without a row")
	d.answerWith(lookAnswers("5000", "0", "1", "another holder", "4000", "7", "100", "4500"))
	got, err = keeper.Acquire(ctx, r)
	if want := (leasedriver.Grant{
		OK: true, Token: 5000, Mark: 7,
		Age: 4900 * time.Microsecond,
	}); err != nil || got != want {
		t.Errorf("acquire an expired lease = %+v, %v; want %+v", got, err, want)
	}
	note("take what has ended")
	d.answerWith(lookAnswers("5000", "0", "1", "another holder", "4000", "7", "100", "9000"))
	if got, err = keeper.Acquire(ctx, r); err != nil || got.OK || got.Wait != 4*time.Millisecond {
		t.Errorf("acquire a held lease = %+v, %v", got, err)
	}
	note("look at what is held")
	h := leasedriver.Holding{Name: "job", Holder: "HOLDER", Token: 1000, TTL: time.Minute, Mark: 9}
	if held, err := keeper.Renew(ctx, h); err != nil || !held {
		t.Errorf("renew = %t, %v", held, err)
	}
	note("renew")
	if held, err := keeper.Release(ctx, h); err != nil || !held {
		t.Errorf("release = %t, %v", held, err)
	}
	note("release")
	for deadline := time.After(5 * time.Second); len(swept) < 2; {
		select {
		case <-deadline:
			t.Fatalf("statements of the sweep = %q", swept)
		case <-time.After(5 * time.Millisecond):
			for _, line := range d.taken() {
				checkGrammar(t, "sweep", line)
				swept = append(swept, line)
			}
		}
	}
	b.WriteString("== sweep\n" + strings.Join(swept, "\n") + "\n")
	compare(t, "lease", b.String())
}

// answerWith replaces the script.
func (d *double) answerWith(script []answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.script = script
}
