package stack_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// request sends a request to the control endpoint.
func request(t *testing.T, method, target string, want int) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != want {
		t.Fatalf("%s = %s %s, %v; want %d", method, response.Status, body, err, want)
	}
	return string(body)
}

func connects(t *testing.T, address string) bool {
	t.Helper()
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", address)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

func TestControl_Servers(t *testing.T) {
	for _, kind := range []string{"postgres", "redis"} {
		t.Run(kind, func(t *testing.T) {
			skipUnlessInstalled(t, kind)
			s := start(t, kind, nil)
			control := exported(s, "PLINTH_TEST_CONTROL")
			var created struct{ ID, DSN string }
			response := request(t, http.MethodPost, control+"/servers?kind="+kind, http.StatusCreated)
			if err := json.Unmarshal([]byte(response), &created); err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(created.DSN)
			if err != nil || !connects(t, u.Host) || strings.Contains(s.Table(), u.Host) {
				t.Fatalf("new server at %q, %v", u.Host, err)
			}
			target := control + "/servers/" + created.ID
			for _, step := range []struct {
				do   string
				want bool
			}{
				{"kill", false},
				{"start", true},
				{"stop", false},
				{"start", true},
				{"start", true},
				{"pause", true}, // the kernel accepts the connection, not the server
				{"kill", false},
				{"start", true},
				{"pause", true},
				{"continue", true},
			} {
				request(t, http.MethodPost, target+"/"+step.do, http.StatusNoContent)
				if got := connects(t, u.Host); got != step.want {
					t.Errorf("after %s: connects = %v, want %v", step.do, got, step.want)
				}
			}
			request(t, http.MethodDelete, target, http.StatusNoContent)
			if connects(t, u.Host) {
				t.Error("a deleted server responds")
			}
			request(t, http.MethodPost, target+"/start", http.StatusNotFound)
		})
	}
}

func TestControl_Nodes(t *testing.T) {
	skipUnlessInstalled(t, "redis")
	control := exported(start(t, "redis", nil), "PLINTH_TEST_CONTROL")
	var created struct {
		ID, DSN, Version, Master, Password string
		Nodes                              []struct{ Name, Address, Role string }
	}
	response := request(t, http.MethodPost, control+"/servers?kind=redis-sentinel",
		http.StatusCreated)
	if err := json.Unmarshal([]byte(response), &created); err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, n := range created.Nodes {
		roles = append(roles, n.Role)
	}
	want := []string{"master", "replica", "replica", "sentinel", "sentinel", "sentinel"}
	if !slices.Equal(roles, want) {
		t.Fatalf("roles = %q, want %q", roles, want)
	}
	if created.Master != "mymaster" || created.Password == "" ||
		!strings.Contains(created.DSN, created.Nodes[3].Address) {
		t.Errorf("the master is %q; want mymaster, a password, and a connection string with the sentinels",
			created.Master)
	}
	if !strings.HasPrefix(created.Version, "Redis ") ||
		!strings.HasSuffix(created.Version, ", 6 nodes") {
		t.Errorf("version = %q", created.Version)
	}
	target, last := control+"/servers/"+created.ID, created.Nodes[5]
	for _, step := range []struct {
		do   string
		want bool
	}{{"kill", false}, {"start", true}, {"pause", true}, {"continue", true}, {"stop", false}} {
		request(t, http.MethodPost, target+"/nodes/"+last.Name+"/"+step.do, http.StatusNoContent)
		if got := connects(t, last.Address); got != step.want {
			t.Errorf("after %s: connects = %v, want %v", step.do, got, step.want)
		}
		if !connects(t, created.Nodes[4].Address) {
			t.Errorf("a node does not respond after %s of another node", step.do)
		}
	}
	request(t, http.MethodPost, target+"/nodes/node-7/kill", http.StatusNotFound)
	request(t, http.MethodPost, target+"/kill", http.StatusNoContent)
	for _, n := range created.Nodes {
		if connects(t, n.Address) {
			t.Errorf("%s responds after kill", n.Name)
		}
	}
}

func TestControl_Errors(t *testing.T) {
	skipUnlessInstalled(t, "redis")
	s := start(t, "mysql,redis", map[string]string{
		"PLINTH_TEST_MYSQL_DSN": "app:x@tcp(sql.example:3307)/x",
	})
	control := exported(s, "PLINTH_TEST_CONTROL")
	for _, tc := range []struct {
		name, target string
		want         int
	}{
		{
			name: "wrong token", target: control + "x/servers?kind=redis",
			want: http.StatusNotFound,
		},
		{
			name: "unknown kind", target: control + "/servers?kind=sybase",
			want: http.StatusNotImplemented,
		},
		{
			name: "kind of the environment", target: control + "/servers?kind=mysql",
			want: http.StatusNotImplemented,
		},
		{
			name: "unknown action", target: control + "/servers/7/nodes/node-1/explode",
			want: http.StatusNotFound,
		},
		{
			name: "unknown server", target: control + "/servers/7/stop",
			want: http.StatusNotFound,
		},
	} {
		t.Run(tc.name, func(t *testing.T) { request(t, http.MethodPost, tc.target, tc.want) })
	}
	if host, err := url.Parse(control); err != nil || host.Hostname() != "127.0.0.1" {
		t.Errorf("the control endpoint listens at %q, %v", host.Host, err)
	}
}
