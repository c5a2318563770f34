package cachetest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/conformance/cachetest"
	"github.com/plinthgo/plinth/conformance/testreport"
	"github.com/plinthgo/plinth/conformance/testserver"
)

// reports runs do as a subtest and returns its reports.
func reports(t *testing.T, do func(t *testing.T)) []testreport.Run {
	t.Helper()
	dir := t.TempDir()
	t.Setenv(testreport.DirVariable.String(), dir)
	t.Run("test", do)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var runs []testreport.Run
	for _, file := range files {
		text, err := os.ReadFile(file)
		var r testreport.Run
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	return runs
}

func TestStartServers(t *testing.T) {
	t.Run("skips the test if no server can be started", func(t *testing.T) {
		t.Setenv(testserver.Control.String(), "")
		runs := reports(t, func(t *testing.T) {
			cachetest.StartServers(t, "redis-cluster")
			t.Error("the test was not skipped")
		})
		if len(runs) != 1 || runs[0].Outcome != "skipped" ||
			!strings.Contains(runs[0].Reason, "redis-cluster") {
			t.Errorf("reports = %+v, want one skip with the kind", runs)
		}
	})

	t.Run("controls nodes by name", func(t *testing.T) {
		var requests []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests = append(requests, r.Method+" "+r.URL.RequestURI())
			if r.URL.Path != "/servers" {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{"id": "3", "dsn": "x://y", "version": "Redis 7",
			"password": "p", "nodes": [
			{"name": "node-1", "address": "127.0.0.1:7001", "role": "master"}]}`))
		}))
		defer server.Close()
		t.Setenv(testserver.Control.String(), server.URL)
		runs := reports(t, func(t *testing.T) {
			s := cachetest.StartServers(t, "redis-cluster")
			want := []cachetest.Node{{Name: "node-1", Address: "127.0.0.1:7001", Role: "master"}}
			if s.URL != "x://y" || s.Password != "p" || !slices.Equal(s.Nodes, want) {
				t.Errorf("URL %q, password %q, nodes %+v; want x://y, p, %+v",
					s.URL, s.Password, s.Nodes, want)
			}
			for _, do := range []func(string) error{s.Pause, s.Continue, s.Stop, s.Start, s.Kill} {
				if err := do("node-1"); err != nil {
					t.Error(err)
				}
			}
			if err := s.Kill(""); err != nil {
				t.Error(err)
			}
			if err := s.Kill("node-2"); err == nil {
				t.Error("Kill accepted an unknown node")
			}
			s.Note("back after %d s", 2)
		})
		node := "POST /servers/3/nodes/node-1/"
		want := []string{
			"POST /servers?kind=redis-cluster",
			node + "pause", node + "continue", node + "stop", node + "start", node + "kill",
			"POST /servers/3/kill", "DELETE /servers/3",
		}
		if !slices.Equal(requests, want) {
			t.Errorf("requests = %q, want %q", requests, want)
		}
		if len(runs) != 1 || runs[0].Family != "failover" || runs[0].Server != "Redis 7" ||
			!slices.Equal(runs[0].Notes, []string{"back after 2 s"}) {
			t.Errorf("reports = %+v, want one with the note", runs)
		}
	})
}
