package page_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/openapix/internal/page"
)

// The vocabulary of the resources of a large document.
var (
	nouns = strings.Fields(`user order invoice payment refund product category warehouse shipment
		address coupon review session device ticket message channel report schedule template
		contract supplier employee department project task comment document folder webhook`)
	members = strings.Fields(`name title status amount currency quantity price weight color size
		owner country city street phone email language timezone priority score source target
		reference comment version checksum duration region locale balance limit`)
	reasons = strings.Fields(`shown printed stored archived compared translated verified exported
		indexed forwarded calculated sorted limited copied signed counted checked approved`)
)

type object = map[string]any

// resource returns the schema of a resource. Fields and descriptions depend on its index.
func resource(i int) object {
	properties := object{"id": object{"type": "string", "pattern": "^[0-9]+$", "description": fmt.Sprintf("ID of the %s", nouns[i%len(nouns)])}}
	for n := range 9 {
		k := i*7 + n*n + 3*n
		name := members[k%len(members)]
		property := object{
			"type": "string", "maxLength": 16 + k%200,
			"description": fmt.Sprintf("The %s of the %s, as it is %s and %s by the %s",
				name, nouns[i%len(nouns)], reasons[k%len(reasons)], reasons[(k*5+1)%len(reasons)], nouns[(k+3)%len(nouns)]),
		}
		switch k % 4 {
		case 0:
			property["type"], property["minimum"], property["examples"] = "integer", k%50, []int{k}
			delete(property, "maxLength")
		case 1:
			property["enum"] = []string{reasons[k%len(reasons)], reasons[(k+4)%len(reasons)], reasons[(k+9)%len(reasons)]}
		}
		properties[name] = property
	}
	return object{"type": "object", "required": []string{"id"}, "properties": properties}
}

// failures returns the responses for error codes of the catalogue.
func failures(codes ...*xerror.ErrorCode) object {
	responses := object{}
	for _, c := range codes {
		status := fmt.Sprint(c.Status())
		r, ok := responses[status].(object)
		if !ok {
			r = object{}
			responses[status] = object{"description": http.StatusText(c.Status()), "content": object{"application/json": object{
				"schema": object{"$ref": "#/components/schemas/Failure"}, "examples": r,
			}}}
		} else {
			r = r["content"].(object)["application/json"].(object)["examples"].(object)
		}
		r[c.GetOutput()] = object{
			"x-messages": object{"en": c.Message("en"), "zh": c.Message("zh")},
			"value":      object{"context": "6f9619ff", "output": c.GetOutput(), "code": c.GetCode(), "message": c.Message("en")},
		}
	}
	return responses
}

var methods = [5]string{"get", "post", "get", "put", "delete"}

// operation returns an operation of a resource.
func operation(i int, noun, schema string, responses object) object {
	reference := object{"$ref": "#/components/schemas/" + schema}
	method := methods[i%5]
	title := [5]string{"List %ss", "Create a %s", "Get a %s", "Change a %s", "Delete a %s"}[i%5]
	var data any = reference
	if i%5 == 0 {
		data = object{"type": "object", "properties": object{"items": object{"type": "array", "items": reference}, "total": object{"type": "integer"}}}
	}
	responses["200"] = object{"description": nouns[i%len(nouns)] + " " + reasons[i%len(reasons)], "content": object{"application/json": object{"schema": object{
		"allOf": []any{object{"$ref": "#/components/schemas/Envelope"}, object{"properties": object{"data": data}}},
	}}}}
	o := object{
		"operationId": method + schema + fmt.Sprint(i%5), "tags": []string{noun + "s"}, "summary": fmt.Sprintf(title, nouns[i/5%len(nouns)]),
		"description": fmt.Sprintf("The %s is %s and then %s. It fails if the %s is not %s.", noun, reasons[i%len(reasons)],
			reasons[(i*3+1)%len(reasons)], nouns[(i+7)%len(nouns)], reasons[(i*5+2)%len(reasons)]),
		"responses": responses,
	}
	if method == "post" || method == "put" {
		o["requestBody"] = object{"content": object{"application/json": object{"schema": reference}}}
	}
	return o
}

// document returns the document of a service with n operations, five for each resource.
func document(tb testing.TB, n int) []byte {
	tb.Helper()
	common := []*xerror.ErrorCode{
		xerror.ParameterError, xerror.ParameterEmpty, xerror.ParameterType, xerror.BodyError, xerror.BodyEmpty, xerror.BodyType,
		xerror.ValidationError, xerror.ServerInternalError,
	}
	catalogue := xerror.Codes()
	schemas := object{
		"Failure":  object{"type": "object", "properties": object{"context": object{"type": "string"}, "output": object{"type": "string"}, "code": object{"type": "integer"}, "message": object{"type": "string"}}},
		"Envelope": object{"type": "object", "properties": object{"context": object{"type": "string"}, "output": object{"const": "Success"}, "code": object{"const": 200}, "message": object{"type": "string"}, "data": object{}}},
	}
	paths := object{}
	for i := range n {
		noun := fmt.Sprintf("%s%d", nouns[i/5%len(nouns)], i/5/len(nouns))
		name := strings.ToUpper(noun[:1]) + noun[1:]
		if i%5 == 0 {
			schemas[name] = resource(i / 5)
		}
		path := "/api/v1/" + noun + "s"
		if i%5 > 1 {
			path += "/{id}"
		}
		item, ok := paths[path].(object)
		if !ok {
			item = object{}
			if i%5 > 1 {
				item["parameters"] = []any{object{"name": "id", "in": "path", "required": true, "schema": object{"type": "string"}}}
			}
			paths[path] = item
		}
		responses := failures(append(common, catalogue[(i*11)%len(catalogue)], catalogue[(i*17+5)%len(catalogue)])...)
		item[methods[i%5]] = operation(i, noun, name, responses)
	}
	text, err := json.Marshal(object{
		"openapi": "3.1.0", "info": object{"title": "Large service", "version": "1"},
		"paths": paths, "components": object{"schemas": schemas},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// transferred returns the compressed size of a response and its body.
func transferred(t *testing.T, h http.Handler, path string) (size int, body string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK || w.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("GET %s = %d, %v", path, w.Code, w.Header())
	}
	size = w.Body.Len()
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return size, string(text)
}

var assetLink = regexp.MustCompile(`(?:href|src)="reference(/assets/[^"]+)"`)

func TestPage_Size(t *testing.T) {
	for _, tc := range []struct {
		operations int
		want       int // maximum size in bytes
	}{
		{operations: 10, want: 60 << 10},
		{operations: 30, want: 60 << 10},
		{operations: 100, want: 100 << 10},
		{operations: 500, want: 100 << 10},
	} {
		t.Run(fmt.Sprintf("%d operations", tc.operations), func(t *testing.T) {
			text := document(t, tc.operations)
			p, err := page.New(text, page.Options{Base: "/reference"})
			if err != nil {
				t.Fatal(err)
			}
			size, html := transferred(t, p, "/reference")
			if got := strings.Count(html, `<details class="op"`); got != tc.operations {
				t.Errorf("the page has %d operations, want %d", got, tc.operations)
			}
			sum := size
			for _, link := range assetLink.FindAllStringSubmatch(html, -1) {
				n, _ := transferred(t, p, "/reference"+link[1])
				sum += n
			}
			t.Logf("document %d bytes; HTML %d bytes, compressed %d; with CSS, JS and icon %d",
				len(text), len(html), size, sum)
			if sum > tc.want {
				t.Errorf("the page has %d bytes, want at most %d", sum, tc.want)
			}
		})
	}
}

func BenchmarkPage(b *testing.B) {
	for _, n := range []int{30, 100, 500} {
		text := document(b, n)
		for _, render := range []bool{false, true} {
			b.Run(fmt.Sprintf("operations=%d/render=%t", n, render), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					p, err := page.New(text, page.Options{Base: "/reference"})
					if err != nil {
						b.Fatal(err)
					}
					if render {
						p.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(b.Context(), http.MethodHead, "/reference", nil))
					}
				}
			})
		}
	}
}
