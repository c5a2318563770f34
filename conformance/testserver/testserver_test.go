package testserver_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/conformance/testserver"
)

// fakeControl responds like the project's test command and records requests. It starts no
// server.
type fakeControl struct {
	mu       sync.Mutex
	requests []string
}

func (d *fakeControl) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.requests = append(d.requests, r.Method+" "+r.URL.RequestURI())
	d.mu.Unlock()
	switch r.Method + " " + r.URL.RequestURI() {
	case "POST /token/servers?kind=postgres":
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"id": "3", "dsn": "postgres://db/x", "tlsDSN": "tls://db/x"}`))
	case "POST /token/servers?kind=redis-sentinel":
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"id": "3", "dsn": "x://y", "master": "mymaster", "nodes": [
			{"name": "node-1", "address": "127.0.0.1:7001", "role": "master"},
			{"name": "node-2", "address": "127.0.0.1:7002", "role": "replica"}]}`))
	case "POST /token/servers/3/kill":
		http.Error(w, "cannot kill", http.StatusInternalServerError)
	case "POST /token/servers/3/stop", "POST /token/servers/3/start", "DELETE /token/servers/3",
		"POST /token/servers/3/pause", "POST /token/servers/3/continue",
		"POST /token/servers/3/nodes/node-2/pause", "POST /token/servers/3/nodes/node-2/continue":
		w.WriteHeader(http.StatusNoContent)
	default:
		http.Error(w, "not on this machine", http.StatusNotImplemented)
	}
}

func newFakeControl(t *testing.T) *fakeControl {
	t.Helper()
	d := &fakeControl{}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	t.Setenv(testserver.Control.String(), server.URL+"/token")
	return d
}

func TestStart(t *testing.T) {
	d := newFakeControl(t)
	t.Run("test", func(t *testing.T) {
		s, ok := testserver.Start(t, "postgres")
		if !ok || s.DSN != "postgres://db/x" || s.TLSDSN != "tls://db/x" {
			t.Fatalf("Start = %+v, %v", s, ok)
		}
		if err := errors.Join(s.Stop(), s.Start(), s.Pause(), s.Continue()); err != nil {
			t.Error(err)
		}
	})
	want := []string{
		"POST /token/servers?kind=postgres",
		"POST /token/servers/3/stop", "POST /token/servers/3/start",
		"POST /token/servers/3/pause", "POST /token/servers/3/continue",
		"DELETE /token/servers/3",
	}
	if !slices.Equal(d.requests, want) {
		t.Errorf("requests = %q, want %q", d.requests, want)
	}
}

func TestNode(t *testing.T) {
	d := newFakeControl(t)
	t.Run("test", func(t *testing.T) {
		s, ok := testserver.Start(t, "redis-sentinel")
		if !ok || s.Master != "mymaster" || len(s.Nodes) != 2 {
			t.Fatalf("Start = %+v, %v", s, ok)
		}
		if n := s.Nodes[1]; n.Name != "node-2" || n.Address != "127.0.0.1:7002" ||
			n.Role != "replica" {
			t.Errorf("node = %+v", n)
		}
		if err := errors.Join(s.Nodes[1].Pause(), s.Nodes[1].Continue(), s.Stop()); err != nil {
			t.Error(err)
		}
	})
	want := []string{
		"POST /token/servers?kind=redis-sentinel", "POST /token/servers/3/nodes/node-2/pause",
		"POST /token/servers/3/nodes/node-2/continue", "POST /token/servers/3/stop",
		"DELETE /token/servers/3",
	}
	if !slices.Equal(d.requests, want) {
		t.Errorf("requests = %q, want %q", d.requests, want)
	}
}

func TestServer_Kill(t *testing.T) {
	newFakeControl(t)
	s, ok := testserver.Start(t, "postgres")
	if !ok {
		t.Fatal("Start: ok = false")
	}
	if err := s.Kill(); err == nil || !strings.Contains(err.Error(), "cannot kill") {
		t.Errorf("Kill = %v, want the reason of the error", err)
	}
}

func TestStart_Unsupported(t *testing.T) {
	t.Run("unknown kind", func(t *testing.T) {
		newFakeControl(t)
		if s, ok := testserver.Start(t, "oracle"); ok {
			t.Errorf("Start = %+v, want ok = false", s)
		}
	})
	t.Run("no test command", func(t *testing.T) {
		t.Setenv(testserver.Control.String(), "")
		if s, ok := testserver.Start(t, "postgres"); ok {
			t.Errorf("Start = %+v, want ok = false", s)
		}
	})
}

func TestFind(t *testing.T) {
	for _, tc := range []struct {
		name, kind, variable, source, want string
	}{
		{
			name: "database", kind: "mysql", variable: "PLINTH_TEST_MYSQL_DSN",
			want: "PLINTH_TEST_MYSQL_DSN",
		},
		{
			name: "cache", kind: "redis", variable: "PLINTH_TEST_REDIS_URL",
			want: "PLINTH_TEST_REDIS_URL",
		},
		{
			name: "named source", kind: "redis", variable: "PLINTH_TEST_REDIS_URL",
			source: "private server", want: "private server",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv(tc.variable, "x://y")
			t.Setenv("PLINTH_TEST_"+strings.ToUpper(tc.kind)+"_SOURCE", tc.source)
			dsn, source, ok := testserver.Find(tc.kind)
			if !ok || dsn != "x://y" || source != tc.want {
				t.Errorf("Find = %q, %q, %v; want x://y, %q, true", dsn, source, ok, tc.want)
			}
		})
	}
	t.Setenv("PLINTH_TEST_MYSQL_DSN", "")
	if _, _, ok := testserver.Find("mysql"); ok {
		t.Error("Find = true for an empty variable")
	}
}
