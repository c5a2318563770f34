//go:build unix

package newservice_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// checkOpenAPI runs plinth openapi and checks its exit code and its output.
func (p *project) checkOpenAPI(code int, want string, args ...string) {
	p.t.Helper()
	out, err := p.plinth(append([]string{"openapi"}, args...)...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		p.t.Fatal(err)
	}
	if got != code || !strings.Contains(out, want) {
		p.t.Fatalf("plinth openapi %q: exit code = %d, want %d and %q in\n%s",
			args, got, code, want, out)
	}
}

func TestOpenAPI_Changes(t *testing.T) {
	p := newTidyProject(t, options{database: "sqlite", cache: "memory"})
	p.checkOpenAPI(3, "openapi.json is out of date", "--check") // no routes
	p.checkOpenAPI(0, "wrote openapi.json: 5 operations")
	p.checkOpenAPI(0, "openapi.json is up to date: 5 operations", "--check")

	out, err := p.plinth("gen", "entity", "Order", "name:string")
	if want := "to do: run plinth openapi"; err != nil || !strings.Contains(out, want) {
		t.Fatalf("gen entity: %v, want %q in\n%s", err, want, out)
	}
	p.checkOpenAPI(3, "compatible  DELETE /api/v1/orders/{id}", "--check")
	p.checkOpenAPI(0, "wrote openapi.json: 10 operations")

	const route = "\txapi.Delete(order, \"\", logic.DeleteOrder, xapi.Message(\"deleted\"))\n"
	file := filepath.Join("internal", "route", "order.go")
	before := p.read(file)
	if !strings.Contains(before, route) {
		t.Fatalf("%s has no %q:\n%s", file, route, before)
	}
	writeFile(t, filepath.Join(p.dir, file), strings.ReplaceAll(before, route, ""))
	p.checkOpenAPI(3, "breaking  DELETE /api/v1/orders/{id}", "--check")
}

// apiDocument is the part of an OpenAPI document that the tests read.
type apiDocument struct {
	Paths map[string]map[string]struct {
		Summary    string
		Parameters []struct{ Name, Description string }
	}
	Components struct {
		Schemas map[string]struct {
			Description string
			Properties  map[string]any
		}
	}
}

func TestOpenAPI_Descriptions(t *testing.T) {
	p := newTidyProject(t, options{database: "sqlite", cache: "memory"})
	p.checkOpenAPI(0, "wrote openapi.json: 5 operations")
	r := p.launch()
	status, text := r.request(http.MethodGet, "/openapi.json", "")
	var d apiDocument
	if err := json.Unmarshal([]byte(text), &d); err != nil || status != http.StatusOK {
		t.Fatalf("/openapi.json = %d, %v", status, err)
	}
	list := d.Paths["/api/v1/notes"]["get"]
	update := d.Components.Schemas["NoteUpdateBody"]
	for _, tc := range []struct{ name, got, want string }{
		{"summary of a route", list.Summary, "Returns a page of the notes"},
		{"parameter", list.Parameters[0].Description, "Page is the page number, starting at 1."},
		{"body", update.Description, "NoteUpdate is the input of UpdateNote."},
		{"data", d.Components.Schemas["Note"].Description, "Note is a short text with a title."},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: description = %q, want %q", tc.name, tc.got, tc.want)
		}
	}
	if update.Properties["id"] != nil || len(update.Properties) != 2 {
		t.Errorf("properties of the body = %v, want title and text", update.Properties)
	}
	if status, text := r.request(http.MethodGet, "/reference", ""); status != http.StatusOK ||
		!strings.Contains(text, "Returns a page of the notes") {
		t.Errorf("/reference = %d %s", status, text)
	}
	r.checkUpdate()
}

// checkUpdate updates a note with a body that names another ID.
func (r *running) checkUpdate() {
	r.t.Helper()
	type note struct {
		Data struct{ ID, Title string }
	}
	var created, changed note
	_, text := r.request(http.MethodPost, "/api/v1/notes", `{"title":"Shopping","text":"milk"}`)
	if err := json.Unmarshal([]byte(text), &created); err != nil {
		r.t.Fatalf("create: %v in %s", err, text)
	}
	_, text = r.request(http.MethodPut, "/api/v1/notes/"+created.Data.ID,
		`{"id":"1","ID":"1","title":"Done","text":"milk"}`)
	if err := json.Unmarshal([]byte(text), &changed); err != nil ||
		changed.Data.ID != created.Data.ID || changed.Data.Title != "Done" {
		r.t.Errorf("update of %s: %v in %s", created.Data.ID, err, text)
	}
}
