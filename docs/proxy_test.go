package docs_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/docs"
)

func TestSite_Proxy(t *testing.T) {
	site := open(t, docs.WithBaseURL("https://docs.example.org"))
	// a loopback address, as behind a proxy on the same machine
	server := httptest.NewServer(site)
	defer server.Close()
	for host, want := range map[string]int{
		"docs.example.org": http.StatusOK,
		"evil.example.org": http.StatusForbidden,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/api/mcp",
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		r.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil || response.StatusCode != want {
			t.Errorf("response for host %s = %s, %v; want %d", host, response.Status, err, want)
		}
	}
}
