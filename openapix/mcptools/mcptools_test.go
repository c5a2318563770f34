package mcptools_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/openapix"
	"github.com/plinthgo/plinth/openapix/mcptools"
)

func TestServe_Versions(t *testing.T) {
	_, url := serve(t, all())
	for _, version := range mcp.SupportedProtocolVersions() {
		t.Run(version, func(t *testing.T) {
			session := connect(t, url, version, nil)
			info := session.InitializeResult()
			if info.ServerInfo.Name != "Shop" || info.ServerInfo.Version != "1.2.3" ||
				info.Instructions != "Start with getUser." || info.ProtocolVersion != version {
				t.Errorf("server %+v with the version %s and the instructions %q", info.ServerInfo,
					info.ProtocolVersion, info.Instructions)
			}
			if n := len(tools(t, session)); n != 18 {
				t.Errorf("%d tools, want 18", n)
			}
			r, text := call(t, session, "getUser", `{"id":7}`)
			if r.IsError || !strings.Contains(text, `"path":"/v1/users/7"`) {
				t.Errorf("result %s", text)
			}
		})
	}
}

func TestServe_Selection(t *testing.T) {
	for _, tc := range []struct {
		name string
		opts []mcptools.Option
		want []string
	}{
		{name: "nothing by default"},
		{
			name: "by ID", opts: []mcptools.Option{mcptools.WithOperations("plain", "touch"), nil},
			want: []string{"plain", "touch"},
		},
		{
			name: "by tag, without downloads and hidden operations",
			opts: []mcptools.Option{mcptools.WithTags("users")},
			want: []string{"createUser", "deleteUser", "getUser", "listUsers", "updateUser"},
		},
		{
			name: "reads, without streams",
			opts: []mcptools.Option{mcptools.WithReads()},
			want: []string{
				"abort", "crash", "file", "getUser", "java", "large", "legacy", "listUsers",
				"plain", "private", "rules",
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, url := serve(t, tc.opts...)
			session := connect(t, url, "", nil)
			got := slices.Sorted(maps.Keys(tools(t, session)))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "hidden"})
			if err == nil {
				t.Error("a call of a hidden operation succeeded")
			}
		})
	}
}

func TestServe_Problems(t *testing.T) {
	for _, tc := range []struct {
		name string
		opt  mcptools.Option
		want string
	}{
		{
			name: "unknown ID", opt: mcptools.WithOperations("getUsers"),
			want: `mcptools: WithOperations: no operation has the ID "getUsers" ` +
				`(known: abort, changeName, count,`,
		},
		{
			name: "hidden ID", opt: mcptools.WithOperations("hidden"),
			want: `no operation has the ID "hidden"`,
		},
		{
			name: "unknown tag", opt: mcptools.WithTags("admin"),
			want: `mcptools: WithTags: no operation has the tag "admin" (known: forms, users)`,
		},
		{
			name: "stream", opt: mcptools.WithOperations("stream"),
			want: "cannot be a tool: its response is a stream",
		},
		{
			name: "download", opt: mcptools.WithOperations("download"),
			want: "cannot be a tool: its response is a file",
		},
		{
			name: "upload", opt: mcptools.WithOperations("upload"),
			want: "cannot be a tool: its input contains files",
		},
		{
			name: "raw", opt: mcptools.WithOperations("raw"),
			want: "cannot be a tool: its input is not JSON",
		},
		{
			name: "path", opt: mcptools.WithPath("/mcp/:id"),
			want: `mcptools: WithPath: "/mcp/:id" is not a plain absolute path`,
		},
		{
			name: "cookie", opt: mcptools.WithHeaders("cookie"),
			want: "mcptools: WithHeaders: cookies are not forwarded",
		},
		{
			name: "size", opt: mcptools.WithMaxResponse(0),
			want: "mcptools: WithMaxResponse: 0 is not positive",
		},
		{
			name: "origin", opt: mcptools.WithOrigins("app.example.com"),
			want: "mcptools: WithOrigins: ",
		},
		{name: "a nil option of the document is skipped", opt: mcptools.WithDocument(nil)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reg, err := xreg.New(t.Context(), nil, xoption.WithoutEnvFile(),
				mcptools.Serve(scheme(), tc.opt), xoption.WithRoute(routes))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = reg.Close(reg.Init.Ctx) })
			err = reg.Lifecycle().Start(reg.Init.Ctx)
			if tc.want == "" && err != nil || tc.want != "" &&
				(err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestServe_Tools(t *testing.T) {
	_, url := serve(t, all())
	list := tools(t, connect(t, url, "", nil))

	t.Run("have the documentation and the hints of the operation", func(t *testing.T) {
		got := list["getUser"]
		if got.Title != "Get a user" || got.Description != "It returns the request." {
			t.Errorf("title %q, description %q", got.Title, got.Description)
		}
		yes, no := true, false
		for name, want := range map[string]*mcp.ToolAnnotations{
			"getUser":    {ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no},
			"createUser": {},
			"updateUser": {IdempotentHint: true, DestructiveHint: &yes},
			"deleteUser": {IdempotentHint: true, DestructiveHint: &yes},
			"changeName": {DestructiveHint: &yes},
		} {
			if diff := cmp.Diff(want, list[name].Annotations); diff != "" {
				t.Errorf("annotations of %s (-want +got):\n%s", name, diff)
			}
		}
		if got := list["updateUser"].Description; !strings.HasPrefix(got, "Deprecated. ") {
			t.Errorf("description %q, want Deprecated", got)
		}
	})
	t.Run("have the arguments of the operation", func(t *testing.T) {
		for name, want := range map[string][]string{
			"getUser":    {"X-Trace", "id", "query_id"},
			"createUser": {"limit", "name", "note"},
			"updateUser": {"body", "id"},
			"signIn":     {"codes", "name", "roles"},
			"changeName": {"body", "name"},
			"count":      {"body"},
			"touch":      {},
		} {
			s, _ := list[name].InputSchema.(map[string]any)
			properties, _ := s["properties"].(map[string]any)
			got := slices.AppendSeq([]string{}, maps.Keys(properties))
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("arguments of %s (-want +got):\n%s", name, diff)
			}
		}
	})
	t.Run("have the documentation of the arguments", func(t *testing.T) {
		want := object{"type": "string", "description": "Media type.", "deprecated": true}
		got := list["legacy"].InputSchema.(object)["properties"].(object)["kind"]
		if diff := cmp.Diff(any(want), got); diff != "" {
			t.Errorf("schema (-want +got):\n%s", diff)
		}
	})
	t.Run("have no rules of the input in the schema of the result", func(t *testing.T) {
		want := object{
			"type": "object", "required": []any{"name", "limit", "pattern"},
			"properties": object{
				"name": object{"type": "string"}, "limit": object{"type": "integer"},
				"pattern": object{"type": "string", "format": "date-time"},
			},
		}
		if diff := cmp.Diff(any(want), list["rules"].OutputSchema); diff != "" {
			t.Errorf("schema (-want +got):\n%s", diff)
		}
	})
	t.Run("have schemas without references to the document", func(t *testing.T) {
		for name, tool := range list {
			for _, s := range []any{tool.InputSchema, tool.OutputSchema} {
				if s == nil {
					continue
				}
				resolve(t, s)
				if text, _ := json.Marshal(s); strings.Contains(string(text), "#/components") {
					t.Errorf("%s: %s", name, text)
				}
			}
		}
		if list["deleteUser"].OutputSchema != nil || list["touch"].OutputSchema != nil {
			t.Error("an operation without data has an output schema")
		}
	})
}

// resolve returns a schema for validation.
func resolve(t *testing.T, schema any) *jsonschema.Resolved {
	t.Helper()
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return r
}

func TestServe_Start(t *testing.T) {
	t.Run("works without start hooks", func(t *testing.T) {
		reg, err := xreg.New(t.Context(), nil, xoption.WithoutEnvFile(),
			mcptools.Serve(scheme(), all(), mcptools.WithPath("/tools")), xoption.WithRoute(routes))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = reg.Close(reg.Init.Ctx) })
		w := post(t, reg.Serve, "/tools", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"name":"getUser"`) {
			t.Errorf("status %d with %.200s", w.Code, w.Body)
		}
	})
	t.Run("reports the error of the document without start hooks", func(t *testing.T) {
		reg, err := xreg.New(t.Context(), nil, xoption.WithoutEnvFile(),
			mcptools.Serve(all()), xoption.WithRoute(routes))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = reg.Close(reg.Init.Ctx) })
		w := post(t, reg.Serve, "/mcp", `{}`)
		if w.Code != http.StatusInternalServerError ||
			!strings.Contains(w.Body.String(), "DEVELOPER_ERROR") {
			t.Errorf("status %d with %.200s, want DEVELOPER_ERROR", w.Code, w.Body)
		}
	})
	t.Run("does not change other responses of the service", func(t *testing.T) {
		app := plinthtest.New(t, mcptools.Serve(scheme(), all()), xoption.WithRoute(routes))
		if r := app.Request(http.MethodGet, "/v1/users/export", nil); r.Status() != http.StatusOK {
			t.Errorf("status %d, want 200", r.Status())
		}
		r := app.Request(http.MethodGet, "/mcp", nil)
		if r.Status() != http.StatusMethodNotAllowed {
			t.Errorf("status of GET /mcp = %d, want 405", r.Status())
		}
	})
}

func TestServe_InvalidName(t *testing.T) {
	invalid := func(_ context.Context, e *gin.Engine) {
		xapi.Post(e, "/touch", touch, xapi.ID("touch it"))
	}
	reg, err := xreg.New(t.Context(), nil, xoption.WithoutEnvFile(),
		mcptools.Serve(mcptools.WithOperations("touch it")), xoption.WithRoute(invalid))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close(reg.Init.Ctx) })
	err = reg.Lifecycle().Start(reg.Init.Ctx)
	want := `mcptools: the operation ID "touch it" (mcptools/fixture_test.go:`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestServe_Inspect(t *testing.T) {
	document := func(opts ...xoption.Option) (text []byte) {
		inspect := xoption.WithInspect(func(e *gin.Engine) (err error) {
			text, err = openapix.Document(e,
				openapix.WithSecurityScheme("bearer", openapix.Bearer("")))
			return err
		})
		_, _ = xreg.New(t.Context(), nil, append(opts, xoption.WithoutEnvFile(),
			xoption.WithRoute(routes), inspect)...) // an inspection starts no application
		return text
	}
	want, got := document(), document(mcptools.Serve(scheme(), all()))
	if len(want) == 0 || string(got) != string(want) {
		t.Errorf("the document has %d bytes, want the %d bytes without tools", len(got), len(want))
	}
}
