package mcptools_test

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xhttp"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/openapix"
	"github.com/plinthgo/plinth/openapix/mcptools"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	goleak.VerifyTestMain(m)
}

// The fixture is a service that has one route of each kind. Echoing routes return what
// arrived, so that a test can compare the request with the arguments.

type user struct {
	ID     int     `json:"id,string"`
	Name   string  `json:"name"`
	Parent *user   `json:"parent,omitempty"`
	Groups []group `json:"groups"`
}

type group struct {
	Name string `json:"name"`
}

type getUser struct {
	ID    int    `uri:"id" binding:"gt=0" doc:"ID of the user."`
	Query string `form:"id"`
	Trace string `header:"X-Trace"`
	Token string `header:"Authorization"`
}

type createUser struct {
	Name  string `json:"name" binding:"required,min=3"`
	Limit uint64 `json:"limit"`
	Note  string `json:"note"`
}

type updateUser struct {
	ID   int    `uri:"id"`
	Name string `json:"name" binding:"required"`
	Body int    `json:"id"`
}

type listUsers struct {
	IDs  []int    `form:"ids" collection_format:"csv"`
	Tags []string `form:"tags"`
	Full *bool    `form:"full"`
}

type login struct {
	xapi.Form
	Name  string   `form:"name" binding:"required"`
	Roles []string `form:"roles" collection_format:"pipes"`
	Codes []int    `form:"codes"`
}

type rename struct {
	xapi.Form
	Name string `uri:"name"`
	New  string `form:"name"`
}

type echo struct {
	Method   string              `json:"method"`
	Path     string              `json:"path"`
	Query    map[string][]string `json:"query"`
	Trace    string              `json:"trace"`
	Language string              `json:"language"`
	Token    string              `json:"token"`
	Key      string              `json:"key"`
	Address  string              `json:"address"`
	Proto    string              `json:"proto"`
	ID       string              `json:"request_id"`
	Cookie   string              `json:"cookie"`
}

// echoRequest describes the request of c.
func echoRequest(c *gin.Context) echo {
	h := c.Request.Header
	return echo{
		Method: c.Request.Method, Path: c.Request.URL.Path, Query: c.Request.URL.Query(),
		Trace: h.Get("X-Trace"), Language: h.Get("Accept-Language"), Cookie: h.Get("Cookie"),
		Token: h.Get("Authorization"), Key: h.Get("X-Api-Key"), Address: c.ClientIP(),
		Proto: h.Get("X-Forwarded-Proto"), ID: xctx.RequestID(c.Request.Context()),
	}
}

// middleware stores the description of the request for the handlers.
func middleware(c *gin.Context) {
	c.Request = c.Request.WithContext(
		context.WithValue(c.Request.Context(), echoKey{}, echoRequest(c)))
}

type echoKey struct{}

func get(ctx context.Context, in *getUser) (echo, error) {
	if in.ID == 404 {
		return echo{}, xerror.New(xerror.UserNotFound, "")
	}
	e, _ := ctx.Value(echoKey{}).(echo)
	return e, nil
}

func create(_ context.Context, in *createUser) (*user, error) {
	return &user{ID: int(in.Limit >> 60), Name: in.Name, Parent: &user{Name: in.Note}}, nil
}

func update(_ context.Context, in *updateUser) (*user, error) {
	return &user{ID: in.ID*1000 + in.Body, Name: in.Name}, nil
}

func list(_ context.Context, in *listUsers) ([]listUsers, error) {
	if in.IDs == nil && in.Tags == nil && in.Full == nil {
		return nil, nil
	}
	return []listUsers{*in}, nil
}

func remove(context.Context, *struct {
	ID int `uri:"id"`
},
) (xapi.Empty, error) {
	return xapi.Empty{}, nil
}

func signIn(_ context.Context, in *login) (map[string]any, error) {
	return map[string]any{"name": in.Name, "roles": in.Roles, "codes": in.Codes}, nil
}

func changeName(_ context.Context, in *rename) (string, error) {
	return in.Name + "→" + in.New, nil
}

func plain(context.Context, *struct{}) (xapi.JSON[group], error) {
	return xapi.JSON[group]{Value: group{Name: "plain"}}, nil
}

func touch(context.Context, *struct{}) (struct{}, error) { return struct{}{}, nil }

func large(context.Context, *struct{}) (string, error) { return strings.Repeat("x", 5000), nil }

func file(_ context.Context, in *struct {
	Path string `uri:"path"`
},
) (string, error) {
	return in.Path, nil
}

func stream(context.Context, *struct{}) (iter.Seq2[group, error], error) {
	return func(func(group, error) bool) {}, nil
}

func download(context.Context, *struct{}) (*xapi.Download, error) { return nil, nil }

func upload(context.Context, *struct {
	File *xapi.File `form:"file"`
},
) (xapi.Empty, error) {
	return xapi.Empty{}, nil
}

func raw(context.Context, *struct{ Raw *xapi.Raw }) (xapi.Empty, error) { return xapi.Empty{}, nil }

func count(_ context.Context, in *[]group) (int, error) { return len(*in), nil }

// limited is a result whose values do not follow the rules of its tags.
type limited struct {
	Name    string    `json:"name" binding:"required,min=3,oneof=ada eve"`
	Limit   int       `json:"limit" binding:"gt=5,lte=10"`
	Pattern time.Time `json:"pattern"`
}

func rules(context.Context, *struct{}) (limited, error) { return limited{}, nil }

type javaInput struct {
	Fail bool `form:"fail"`
}

func java(_ context.Context, in *javaInput) ([]group, error) {
	if in.Fail {
		return nil, xerror.New(xerror.UserNotFound, "detail")
	}
	return nil, nil
}

// legacy is a handler whose response is not the described envelope.
func legacy(c *gin.Context) {
	kind := c.DefaultQuery("kind", "text/html")
	c.Data(http.StatusOK, kind, []byte(strings.Repeat("x", 2000)))
	c.Writer.Flush()
}

type legacyInput struct {
	Kind string `form:"kind" doc:"Media type."`
}

func crash(context.Context, *struct{}) (string, error) { panic("secret of the program") }

func abort(context.Context, *struct{}) (string, error) { panic(http.ErrAbortHandler) }

// authenticate is a middleware whose response is not an envelope.
func authenticate(c *gin.Context) {
	if xhttp.Authorization.Get(c.Request.Header) != "Bearer secret" {
		c.AbortWithStatusJSON(http.StatusUnauthorized, gin.H{"reason": "unauthorized"})
	}
}

func routes(_ context.Context, e *gin.Engine) {
	v1 := xapi.Group(e, "/v1", xapi.Tag("users"), xapi.Use(middleware), xapi.Security("bearer"))
	xapi.Get(v1, "/users/:id", get, xapi.ID("getUser"), xapi.Summary("Get a user"),
		xapi.Description("It returns the request."), xapi.Errors(xerror.UserNotFound))
	xapi.Get(v1, "/users/export", plain, xapi.ID("hidden"), xapi.Hidden())
	xapi.Post(v1, "/users", create, xapi.ID("createUser"), xapi.Status(http.StatusCreated))
	xapi.Put(v1, "/users/:id", update, xapi.ID("updateUser"), xapi.Deprecated())
	xapi.Get(v1, "/users", list, xapi.ID("listUsers"))
	xapi.Delete(v1, "/users/:id", remove, xapi.ID("deleteUser"))
	xapi.Get(v1, "/avatar", download, xapi.ID("download"))
	xapi.Post(e, "/login", signIn, xapi.ID("signIn"), xapi.Tag("forms"))
	xapi.Patch(e, "/names/:name", changeName, xapi.ID("changeName"), xapi.Tag("forms"))
	xapi.Get(e, "/plain", plain, xapi.ID("plain"))
	xapi.Post(e, "/touch", touch, xapi.ID("touch"), xapi.Message("touched"))
	xapi.Get(e, "/large", large, xapi.ID("large"))
	xapi.Get(e, "/files/*path", file, xapi.ID("file"))
	xapi.Get(e, "/java", java, xapi.ID("java"), xapi.Profile(xbase.ProfileJava))
	xapi.Get(e, "/rules", rules, xapi.ID("rules"))
	xapi.Post(e, "/count", count, xapi.ID("count"))
	e.GET("/legacy", xapi.Describe[legacyInput, string](legacy, xapi.ID("legacy")))
	xapi.Get(e, "/stream", stream, xapi.ID("stream"))
	xapi.Post(e, "/upload", upload, xapi.ID("upload"))
	xapi.Post(e, "/raw", raw, xapi.ID("raw"))
	xapi.Get(e, "/crash", crash, xapi.ID("crash"))
	xapi.Get(e, "/abort", abort, xapi.ID("abort"))
	xapi.Get(e, "/private", plain, xapi.ID("private"), xapi.Use(authenticate))
}

// scheme defines the security scheme of the fixture.
func scheme() mcptools.Option {
	return mcptools.WithDocument(openapix.WithTitle("Shop"), openapix.WithVersion("1.2.3"),
		openapix.WithDescription("Start with getUser."),
		openapix.WithSecurityScheme("bearer", openapix.Bearer("")),
		openapix.WithComments(map[string]string{
			"github.com/plinthgo/plinth/openapix/mcptools_test.legacyInput.Kind": "Deprecated:",
		}))
}

// all offers all operations that can be tools.
func all() mcptools.Option {
	return mcptools.WithOperations("getUser", "createUser", "updateUser", "listUsers",
		"deleteUser", "signIn", "changeName", "plain", "touch", "large", "file", "crash", "abort",
		"private", "count", "legacy", "rules", "java")
}

// serve runs the fixture on a loopback address and returns its URL.
func serve(tb testing.TB, opts ...mcptools.Option) (app *plinthtest.App, url string) {
	tb.Helper()
	return serveWith(tb, nil, opts...)
}

// serveWith is like serve, with an option of the application.
func serveWith(
	tb testing.TB, opt xoption.Option, opts ...mcptools.Option,
) (app *plinthtest.App, url string) {
	tb.Helper()
	app = plinthtest.New(tb, mcptools.Serve(append(opts, scheme())...),
		xoption.WithRoute(routes), opt)
	s := httptest.NewServer(app.Engine())
	tb.Cleanup(s.Close)
	return app, s.URL + "/mcp"
}

// headers adds headers to each request.
type headers map[string]string

// RoundTrip implements http.RoundTripper.
func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// connect returns a client with the given version of the protocol. An empty version means
// the latest.
func connect(tb testing.TB, url, version string, h headers) *mcp.ClientSession {
	tb.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(
		tb.Context(), &mcp.StreamableClientTransport{
			Endpoint: url, HTTPClient: &http.Client{Transport: h}, MaxRetries: -1,
		}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = session.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return session
}

// call returns the result of a call and its text.
func call(
	tb testing.TB, session *mcp.ClientSession, tool, arguments string,
) (r *mcp.CallToolResult, text string) {
	tb.Helper()
	r, err := session.CallTool(tb.Context(),
		&mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		tb.Fatalf("%s %s: %v", tool, arguments, err)
	}
	content, ok := r.Content[0].(*mcp.TextContent)
	if !ok || len(r.Content) != 1 {
		tb.Fatalf("%s %s: content %v, want one text", tool, arguments, r.Content)
	}
	return r, content.Text
}

// tools returns the offered tools by name.
func tools(tb testing.TB, session *mcp.ClientSession) map[string]*mcp.Tool {
	tb.Helper()
	list := map[string]*mcp.Tool{}
	for t, err := range session.Tools(tb.Context(), nil) {
		if err != nil {
			tb.Fatal(err)
		}
		list[t.Name] = t
	}
	return list
}
