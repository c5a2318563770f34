//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
)

// replicas are processes of the service that share what their environment names.
type replicas struct {
	t   *testing.T
	env []string

	mu      sync.Mutex
	ids     map[string]string // and who has made them
	numbers map[string]int    // of the processes, by their address
}

// launch starts a replica in a folder of its own, where no file tells of the others.
func (r *replicas) launch() *process {
	r.t.Helper()
	return launch(r.t, r.t.TempDir(), append(r.env, "PLINTH_DRAIN_DELAY=0s", "LOG_DIR=none")...)
}

// registerMany lets all processes register users at the same time, and notes ids that
// come twice.
func (r *replicas) registerMany(round string, processes ...*process) {
	r.t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var clients sync.WaitGroup
	for i, p := range processes {
		for k := range 4 {
			clients.Go(func() {
				name := fmt.Sprintf("%s-%d-%d", round, i, k)
				status, text, err := send(r.t.Context(), client, p.url+register, person(name))
				var made struct{ Data struct{ ID string } }
				if err != nil || status != http.StatusOK ||
					json.Unmarshal([]byte(text), &made) != nil || made.Data.ID == "" {
					r.t.Errorf("register %s = %d %s %v", name, status, text, err)
					return
				}
				r.mu.Lock()
				defer r.mu.Unlock()
				if other, twice := r.ids[made.Data.ID]; twice {
					r.t.Errorf("%s and %s both have the id %s", name, other, made.Data.ID)
				}
				r.ids[made.Data.ID] = name
				r.note(p.url, made.Data.ID)
			})
		}
	}
	clients.Wait()
}

// note keeps the number of a process, which one of its ids shows.
func (r *replicas) note(url, text string) {
	id, err := xsnowflake.ParseSnowflakeID(text)
	if err != nil {
		r.t.Errorf("id %q: %v", text, err)
		return
	}
	r.numbers[url] = id.DatacenterID()*8 + id.NodeID()
}

// distinct looks whether the numbers of the processes, which have made ids, differ and
// are from the source.
func (r *replicas) distinct(source string, processes ...*process) {
	r.t.Helper()
	taken := map[int]bool{}
	for _, p := range processes {
		number, made := r.numbers[p.url]
		if !made || taken[number] || !strings.HasPrefix(p.ids.Source, source) {
			r.t.Errorf("id node %+v with the number %d, want one of its own from %s",
				p.ids, number, source)
		}
		taken[number] = true
	}
}

func TestReplicasWithoutNumbersMakeDifferentIDs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, source string
		env          func(t *testing.T) []string
	}{
		{name: "postgres", source: "a lease in postgres", env: func(t *testing.T) []string {
			t.Helper()
			return environment(t, "postgres",
				postgresParts(t, dbtest.FindServer(t, "postgres").DSN))
		}},
		// each with a database file of its own
		{name: "redis", source: "a lease in redis", env: redis},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := &replicas{
				t: t, env: tc.env(t), ids: map[string]string{},
				numbers: map[string]int{},
			}
			a, b, c := r.launch(), r.launch(), r.launch()
			a.ready()
			b.ready()
			c.ready()
			r.registerMany("first", a, b, c)
			r.distinct(tc.source, a, b, c)

			if err := b.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			b.exit()
			b = r.launch().ready() // while the number of the killed one is still reserved
			r.registerMany("second", a, b, c)
			r.distinct(tc.source, a, b, c)
			for _, p := range []*process{a, b, c} {
				if code := p.stop(); code != 0 {
					t.Errorf("exit code = %d:\n%s", code, p.out.String())
				}
			}
		})
	}
}

func TestDatabaseOfTheRunnersOptionsLeavesTheIDNode(t *testing.T) {
	t.Parallel()
	server := dbtest.FindServer(t, "postgres")
	prefix := tablePrefix(t, "postgres", postgresParts(t, server.DSN))
	quiet, err := xlog.New(xlog.Config{Writer: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	reg, err := xreg.New(t.Context(), nil, xoption.WithoutEnvFile(), xoption.WithLogger(quiet))
	if err != nil {
		t.Fatal(err)
	}
	node, _ := xsnowflake.GetNode(reg.Init.Ctx)
	before := node.Source()
	if !strings.HasSuffix(before, "(scope: host)") {
		t.Errorf("node ID from %s, want a file: there is no database yet", before)
	}
	prepared := false
	prepare := func(*gorm.DB) error { prepared = true; return nil }
	if err := reg.Apply(xoption.WithDatabase(
		xoptdatabase.WithDriver("postgres", server.DSN), xoptdatabase.WithTablePrefix(prefix),
		xoptdatabase.WithPrepare(prepare),
	)); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Generate(); err != nil || !prepared || node.Source() != before {
		t.Errorf("Generate = %v, prepared %t, node ID from %s; want nil, true and the file",
			err, prepared, node.Source())
	}
	if err := reg.Close(t.Context()); err != nil {
		t.Errorf("Close = %v", err)
	}
}
