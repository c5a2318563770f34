package openapix_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/openapix"
)

type note struct {
	ID      int               `uri:"id" json:"-"`
	Text    string            `json:"text" binding:"required,max=5"`
	Due     *time.Time        `json:"due"`
	Owners  []string          `json:"owners" binding:"dive,alpha"`
	Labels  map[string]string `json:"labels,omitempty"`
	Parent  *note             `json:"parent,omitempty"`
	Rating  float64           `json:"rating" binding:"lte=1"`
	Secret  string            `json:"-"`
	Version int64             `json:"version,string"`
}

func putNote(_ context.Context, in *note) (*note, error) {
	if in.Text == "gone" {
		return nil, xerror.New(xerror.NotExist, "the note is gone")
	}
	return in, nil
}

func listNotes(context.Context, *struct{}) ([]note, error) {
	return []note{{Text: "a"}, {Text: "b", Parent: &note{Text: "c"}}}, nil
}

func noteRoutes(_ context.Context, e *gin.Engine) {
	xapi.Put(e, "/notes/:id", putNote, xapi.Status(http.StatusCreated), xapi.Errors(xerror.NotExist))
	xapi.Get(e, "/notes", listNotes)
}

// schemaAt returns the schema of a document at a JSON pointer.
func schemaAt(t *testing.T, document []byte, pointer string) *jsonschema.Schema {
	t.Helper()
	resource, err := jsonschema.UnmarshalJSON(strings.NewReader(string(document)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("openapi.json", resource); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("openapi.json#" + pointer)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDocument_Responses compares the responses of a service with its document.
func TestDocument_Responses(t *testing.T) {
	app := plinthtest.New(t, xoption.WithRoute(noteRoutes), openapix.Serve())
	text, err := openapix.Document(app.Engine())
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, method, url, path, body string
		want                          int
		problem                       bool
	}{
		{"success", "PUT", "/notes/1", "/notes/{id}", `{"text":"a","owners":["x"],"version":"2"}`, 201, false},
		{"nil members", "PUT", "/notes/1", "/notes/{id}", `{"text":"a"}`, 201, false},
		{"list", "GET", "/notes", "/notes", "", 200, false},
		{"error of the handler", "PUT", "/notes/1", "/notes/{id}", `{"text":"gone"}`, 400, false},
		{"problem", "PUT", "/notes/1", "/notes/{id}", `{"text":"gone"}`, 400, true},
		{"broken rules", "PUT", "/notes/1", "/notes/{id}", `{"text":"abcdef","rating":2}`, 400, false},
		{"wrong type", "PUT", "/notes/1", "/notes/{id}", `{"text":1}`, 400, false},
		{"wrong parameter", "PUT", "/notes/x", "/notes/{id}", `{"text":"a"}`, 400, false},
		{"no body", "PUT", "/notes/1", "/notes/{id}", "", 400, false},
		{"broken JSON", "PUT", "/notes/1", "/notes/{id}", `{`, 400, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			contentType, accept := "application/json", "*/*"
			if tc.problem {
				contentType, accept = "application/problem+json", "application/problem+json"
			}
			w := send(app.Engine(), tc.method, tc.url, tc.body, accept)
			if w.Code != tc.want || !strings.HasPrefix(w.Header().Get("Content-Type"), contentType) {
				t.Fatalf("status %d, %v, want %d and %s", w.Code, w.Header(), tc.want, contentType)
			}
			if w.Header().Get("X-Request-UUID") == "" {
				t.Error("the response has no X-Request-UUID, which the document declares")
			}
			checkResponse(t, text, tc.method, tc.path, contentType, w.Code, w.Body.String())
		})
	}
}

// checkResponse compares the body of a response with its schema in the document.
func checkResponse(
	t *testing.T, text []byte, method, path, contentType string, status int, body string,
) {
	t.Helper()
	method = strings.ToLower(method)
	pointer := "/paths/" + escape(path) + "/" + method + "/responses/" + strconv.Itoa(status)
	if ref, ok := parse(t, text).at("paths", path, method, "responses", strconv.Itoa(status),
		"$ref").(string); ok {
		pointer = strings.TrimPrefix(ref, "#")
	}
	s := schemaAt(t, text, pointer+"/content/"+escape(contentType)+"/schema")
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(value); err != nil {
		t.Errorf("%s\n%v", body, err)
	}
}

// escape escapes a member name for a JSON pointer in a URL.
func escape(name string) string {
	return strings.NewReplacer("/", "~1", "{", "%7B", "}", "%7D").Replace(name)
}
