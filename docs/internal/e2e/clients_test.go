package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// results contains the results of each tool.
type results struct {
	Protocol string
	Tools    []string
	Sectors  []string
	List     struct {
		Sector    string
		BaseURL   string
		Documents []struct{ Path, Title, Description string }
	}
	Detail struct{ Sector, Path, Title, URL, Content, Text string }
	Search struct {
		Query        string
		TotalResults int
		Results      []struct{ Title, Sector, DetailPath, Excerpt string }
	}
	Unknown struct {
		IsError bool
		Text    string
	}
}

// check fails the test if a field is missing that clients rely on.
func (h *results) check(t *testing.T) {
	t.Helper()
	if want := []string{
		"detail", "list", "search",
		"sector",
	}; !slices.Equal(slices.Sorted(slices.Values(h.Tools)), want) {
		t.Errorf("tools = %q, want %q", h.Tools, want)
	}
	if len(h.Sectors) == 0 || h.List.Sector != h.Sectors[0] || h.List.BaseURL == "" ||
		len(h.List.Documents) == 0 {
		t.Fatalf("sectors = %q, list = %+v", h.Sectors, h.List)
	}
	if d := h.List.Documents[0]; d.Path == "" || d.Title == "" || d.Description == "" {
		t.Errorf("document = %+v", d)
	}
	if d := h.Detail; d.Sector != h.Sectors[0] || d.Path != h.List.Documents[0].Path ||
		d.Title == "" || d.URL == "" || d.Content == "" {
		t.Errorf("detail = %+v", d)
	}
	if s := h.Search; s.Query != "database" || s.TotalResults < 1 || len(s.Results) < 1 {
		t.Fatalf("search = %+v", s)
	}
	if r := h.Search.Results[0]; r.Title == "" || r.Sector == "" || r.DetailPath == "" ||
		r.Excerpt == "" {
		t.Errorf("result = %+v", r)
	}
	if !h.Unknown.IsError || h.Unknown.Text == "" {
		t.Errorf("an unknown page = %+v, want an error result with an explanation", h.Unknown)
	}
}

func TestTypeScriptClients(t *testing.T) {
	programs, r := needNode(t)
	s := start(t, binary(t))
	dir := t.TempDir() // modules are resolved from the directory of the script
	if err := os.Symlink(programs.Modules(), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("testdata", "client.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "client.mjs")
	if err := os.WriteFile(script, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, want string }{
		{name: "legacy", want: "2025-11-25"},
		{name: "modern", want: "2026-07-28"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var stdout, stderr strings.Builder
			cmd := programs.Command(ctx, script, tc.name, s.endpoint())
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Run(); err != nil {
				t.Fatalf("client: %v\n%s%s", err, &stdout, &stderr)
			}
			var got results
			if err := json.Unmarshal([]byte(stdout.String()), &got); err != nil {
				t.Fatalf("client wrote %s: %v", &stdout, err)
			}
			if got.Protocol != tc.want {
				t.Errorf("protocol = %q, want %q", got.Protocol, tc.want)
			}
			got.check(t)
			note(r, "TypeScript client, %s: protocol %s", tc.name, got.Protocol)
		})
	}
}
