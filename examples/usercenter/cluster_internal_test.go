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

// replicas are processes of the service that share the environment.
type replicas struct {
	t   *testing.T
	env []string

	mu      sync.Mutex
	ids     map[string]string // the user of each ID
	nodeIDs map[string]int    // of the processes, by address
}

// launch starts a replica in its own directory, so that replicas share no files.
func (r *replicas) launch() *process {
	r.t.Helper()
	return launch(r.t, r.t.TempDir(), append(r.env, "PLINTH_DRAIN_DELAY=0s", "LOG_DIR=none")...)
}

// registerMany registers users with all processes concurrently and reports duplicate IDs.
func (r *replicas) registerMany(round string, processes ...*process) {
	r.t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var clients sync.WaitGroup
	for i, p := range processes {
		for k := range 4 {
			clients.Go(func() {
				name := fmt.Sprintf("%s-%d-%d", round, i, k)
				status, text, err := send(r.t.Context(), client, p.url+register, person(name))
				var created struct{ Data struct{ ID string } }
				if err != nil || status != http.StatusOK ||
					json.Unmarshal([]byte(text), &created) != nil || created.Data.ID == "" {
					r.t.Errorf("register %s = %d %s %v", name, status, text, err)
					return
				}
				r.mu.Lock()
				defer r.mu.Unlock()
				if other, duplicate := r.ids[created.Data.ID]; duplicate {
					r.t.Errorf("%s and %s both have the ID %s", name, other, created.Data.ID)
				}
				r.ids[created.Data.ID] = name
				r.recordNodeID(p.url, created.Data.ID)
			})
		}
	}
	clients.Wait()
}

// recordNodeID stores the node ID of a process, which it reads from one of its IDs.
func (r *replicas) recordNodeID(url, text string) {
	id, err := xsnowflake.ParseSnowflakeID(text)
	if err != nil {
		r.t.Errorf("ID %q: %v", text, err)
		return
	}
	r.nodeIDs[url] = id.DatacenterID()*8 + id.NodeID()
}

// checkNodeIDs checks that the processes have different node IDs, leased from source.
func (r *replicas) checkNodeIDs(source string, processes ...*process) {
	r.t.Helper()
	used := map[int]bool{}
	for _, p := range processes {
		nodeID, found := r.nodeIDs[p.url]
		if !found || used[nodeID] || !strings.HasPrefix(p.ids.Source, source) {
			r.t.Errorf("ID node %+v has node ID %d, want a unique one from %s",
				p.ids, nodeID, source)
		}
		used[nodeID] = true
	}
}

func TestReplicas_NodeIDs(t *testing.T) {
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
		// each replica has a separate database file
		{name: "redis", source: "a lease in redis", env: redis},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := &replicas{
				t: t, env: tc.env(t), ids: map[string]string{}, nodeIDs: map[string]int{},
			}
			a, b, c := r.launch(), r.launch(), r.launch()
			a.ready()
			b.ready()
			c.ready()
			r.registerMany("first", a, b, c)
			r.checkNodeIDs(tc.source, a, b, c)

			if err := b.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			b.exit()
			b = r.launch().ready() // while the node ID of the killed replica is still leased
			r.registerMany("second", a, b, c)
			r.checkNodeIDs(tc.source, a, b, c)
			for _, p := range []*process{a, b, c} {
				if code := p.stop(); code != 0 {
					t.Errorf("exit code = %d:\n%s", code, p.out.String())
				}
			}
		})
	}
}

func TestReg_Apply_NodeID(t *testing.T) {
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
		t.Errorf("node ID from %s, want a file before the database is open", before)
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
