package openapix_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/openapix"
)

const pkg = "github.com/plinthgo/plinth/openapix_test."

// comments are the doc comments of the fixture.
func comments() map[string]string {
	return map[string]string{
		pkg + "getUser": "getUser returns a user, e.g. the\ncaller. It fails with USER_NOT_FOUND.\n\n" +
			"The result is cached.\n",
		pkg + "users.Create":        "Create registers a user.",
		pkg + "users.Update":        "Update changes a user.",
		pkg + "deleteUser":          "deleteUser removes a user.\n\nDeprecated: use the archive.",
		pkg + "userID.ID":           "ID is hidden by the doc tag.",
		pkg + "listUsers.Status":    "Status filters the users.",
		pkg + "listUsers.Wait":      "Wait is a timeout.\n\nDeprecated: it has no effect.",
		pkg + "user":                "user is an account.",
		pkg + "user.Nickname":       "Nickname is the former name.\n\nDeprecated: use Username.",
		pkg + "createUser.Username": "Username is hidden by the doc tag.",
		"github.com/plinthgo/plinth/core/major/xmodels.BaseEntity.ID":      "ID is the primary key.",
		"github.com/plinthgo/plinth/core/major/xmodels.PageResponse":       "PageResponse is a page.",
		"github.com/plinthgo/plinth/core/major/xmodels.PageResponse.Items": "Items are the rows.",
	}
}

// object is a parsed document.
type object map[string]any

// at returns the value at a path of member names and list indexes.
func (o object) at(path ...any) any {
	var value any = map[string]any(o)
	for _, step := range path {
		switch step := step.(type) {
		case string:
			members, _ := value.(map[string]any)
			value = members[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

// document returns the parsed document of the fixture with additional options.
func document(t *testing.T, opts ...openapix.Option) (object, []byte) {
	t.Helper()
	text, err := openapix.Document(newEngine(routes), append(options(), opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, text), text
}

func parse(t *testing.T, text []byte) object {
	t.Helper()
	var o object
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestWithComments(t *testing.T) {
	d, _ := document(t, openapix.WithComments(comments()))
	type path = []any
	operation := func(p, method string, rest ...any) path {
		return append(path{"paths", p, method}, rest...)
	}
	property := func(component string, rest ...any) path {
		return append(path{"components", "schemas", component}, rest...)
	}
	for _, tc := range []struct {
		name string
		path path
		want any
	}{
		{
			"the first sentence is the summary", operation("/api/v1/users/{id}", "get", "summary"),
			"Returns a user, e.g. the caller",
		},
		{
			"the rest is the description", operation("/api/v1/users/{id}", "get", "description"),
			"It fails with USER_NOT_FOUND.\n\nThe result is cached.",
		},
		{"a method", operation("/api/v1/users", "post", "summary"), "Registers a user"},
		{"an option has priority", operation("/api/v1/users/{id}", "put", "summary"), "Change a user"},
		{"without a comment", operation("/api/v1/users", "get", "summary"), "List users"},
		{
			"a deprecated operation", operation("/api/v1/users/{id}", "delete", "deprecated"), true,
		},
		{
			"a parameter", operation("/api/v1/users", "get", "parameters", 5, "description"),
			"Status filters the users.",
		},
		{
			"a deprecated parameter", operation("/api/v1/users", "get", "parameters", 6, "deprecated"),
			true,
		},
		{
			"the doc tag has priority",
			operation("/api/v1/users/{id}", "get", "parameters", 0, "description"), "ID of the user.",
		},
		{"a type", property("User", "description"), "user is an account."},
		{"a deprecated field", property("User", "properties", "nickname", "deprecated"), true},
		{
			"an embedded field", property("User", "properties", "id", "description"),
			"ID is the primary key.",
		},
		{"a generic type", property("PageResponseUser", "description"), "PageResponse is a page."},
		{
			"a field of a generic type",
			property("PageResponseUser", "properties", "items", "description"), "Items are the rows.",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := d.at(tc.path...); got != tc.want {
				t.Errorf("%v = %v, want %v", tc.path, got, tc.want)
			}
		})
	}
}

func TestWithDescriptions(t *testing.T) {
	_, plain := document(t)
	_, full := document(t, openapix.WithComments(comments()))
	if string(plain) == string(full) {
		t.Fatal("the comments have no effect")
	}

	t.Run("a document without comments equals the earlier one", func(t *testing.T) {
		_, got := document(t, openapix.WithDescriptions(full))
		if string(got) != string(full) {
			t.Errorf("the document with the earlier descriptions differs from the earlier document")
		}
	})
	t.Run("comments have priority", func(t *testing.T) {
		d, _ := document(t, openapix.WithDescriptions(full), openapix.WithComments(
			map[string]string{pkg + "user": "user is a person.", pkg + "getUser": "getUser finds a user."}))
		if got := d.at("components", "schemas", "User", "description"); got != "user is a person." {
			t.Errorf("description of User = %v", got)
		}
		if got := d.at("paths", "/api/v1/users/{id}", "get", "summary"); got != "Finds a user" {
			t.Errorf("summary = %v", got)
		}
	})
	t.Run("ignores operations and components of routes that do not exist", func(t *testing.T) {
		text, err := openapix.Document(gin.New(), openapix.WithTitle("empty"),
			openapix.WithDescriptions(full))
		if err != nil || strings.Contains(string(text), "User") {
			t.Errorf("Document = %s, %v; want a document without users", text, err)
		}
	})
}

func TestDocument_Contents(t *testing.T) {
	d, _ := document(t)
	for _, tc := range []struct {
		name string
		path []any
		want string // JSON
	}{
		{
			"a stream has the schema of its items",
			[]any{"paths", "/events", "get", "responses", "200", "content", "text/event-stream"},
			`{"schema":{"$ref":"#/components/schemas/Event"},` +
				`"x-item-schema":{"$ref":"#/components/schemas/Event"}}`,
		},
		{
			"a stream has no timeout", []any{"paths", "/events", "get", "responses", "504"}, `null`,
		},
		{
			"an upload is a multipart form",
			[]any{"paths", "/api/v1/users/import", "post", "requestBody"},
			`{"content":{"multipart/form-data":{"schema":{"type":"object"}}},"required":true}`,
		},
		{
			"the body of a form has two content types",
			[]any{"paths", "/login", "post", "requestBody", "content"},
			`{"application/x-www-form-urlencoded":{"schema":{"$ref":"#/components/schemas/LoginForm"}},` +
				`"multipart/form-data":{"schema":{"$ref":"#/components/schemas/LoginForm"}}}`,
		},
		{
			"a raw body has any content type",
			[]any{"paths", "/files/{path}", "put", "requestBody", "content", "*/*"},
			`{"schema":{"format":"binary","type":"string"}}`,
		},
		{
			"security schemes are alternatives",
			[]any{"paths", "/files/{path}", "put", "security"},
			`[{"key":[]},{"basic":[]}]`,
		},
		{
			"a type is recursive",
			[]any{"components", "schemas", "OpenapixTestGroupInput", "properties", "groups"},
			`{"items":{"$ref":"#/components/schemas/OpenapixTestGroupInput"},"type":"array"}`,
		},
		{
			"codes with the same status are one response",
			[]any{"paths", "/api/v1/users", "post", "responses", "409"},
			`{"$ref":"#/components/responses/DUPLICATE_ENTRY.OUT_OF_STOCK"}`,
		},
		{
			"an example has both messages",
			[]any{"components", "examples", "OUT_OF_STOCK"},
			`{"description":"商品缺货","summary":"The article is out of stock",` +
				`"value":{"code":40970,"context":"0198c0de-0000-7000-8000-000000000000",` +
				`"message":"The article is out of stock","output":"OUT_OF_STOCK"}}`,
		},
		{
			"the catalogue has both messages",
			[]any{"x-error-catalogue", 0},
			`{"code":40001,"messages":{"en":"The item already exists","zh":"内容已存在"},` +
				`"output":"EXISTED","status":400}`,
		},
		{
			"a download supports ranges",
			[]any{"paths", "/api/v1/users/{id}/avatar", "get", "responses", "206", "content"},
			`{"application/octet-stream":{"schema":{"format":"binary","type":"string"}}}`,
		},
		{"a hidden route is missing", []any{"paths", "/internal"}, `null`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var text strings.Builder
			e := json.NewEncoder(&text)
			e.SetEscapeHTML(false)
			if err := e.Encode(d.at(tc.path...)); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(text.String()); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
