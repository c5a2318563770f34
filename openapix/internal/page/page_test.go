package page_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/openapix/internal/page"
)

func newPage(t *testing.T, document []byte, base string) *page.Page {
	t.Helper()
	p, err := page.New(document, page.Options{Base: base, DocumentURL: "/openapi.json"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// serve sends a request without compression, unless headers request it.
func serve(t *testing.T, h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestNew(t *testing.T) {
	for _, tc := range []struct{ name, document, base, want string }{
		{name: "invalid JSON", document: "{", want: "page: jsontree: unexpected end of JSON input"},
		{name: "another version", document: `{"swagger":"2.0"}`, want: `page: spec: the version "" is not supported (accepted: 3.1)`},
		{name: "no title", document: `{"openapi":"3.1.0"}`, want: "page: spec: the document has no title; set info.title"},
		{name: "relative base", document: `{"openapi":"3.1.0","info":{"title":"x"}}`, base: "x", want: `page: the base path "x" is not absolute; add a slash`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := page.New([]byte(tc.document), page.Options{Base: tc.base})
			if err == nil || err.Error() != tc.want {
				t.Errorf("error = %v, want %s", err, tc.want)
			}
		})
	}

	t.Run("accepts a document without paths", func(t *testing.T) {
		p := newPage(t, []byte(`{"openapi":"3.1.0","info":{"title":"x"}}`), "/reference")
		if body := serve(t, p, http.MethodGet, "/reference").Body.String(); !strings.Contains(body, "The document has no operations.") {
			t.Errorf("body = %s", body)
		}
	})
}

func TestPage_ServeHTTP(t *testing.T) {
	p := newPage(t, read(t, "usercenter.json"), "/docs/reference")
	html := serve(t, p, http.MethodGet, "/docs/reference")

	t.Run("sets the headers of security", func(t *testing.T) {
		const want = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
		if got := html.Header().Get("Content-Security-Policy"); got != want {
			t.Errorf("policy = %s, want %s", got, want)
		}
		if got := html.Header().Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("X-Content-Type-Options = %s", got)
		}
	})

	t.Run("allows requests to the servers of the document", func(t *testing.T) {
		text := `{"openapi":"3.1.0","info":{"title":"x"},"servers":[{"url":"/v1"},{"url":"https://{region}.example.com:8443/v1","variables":{"region":{"default":"eu"}}},{"url":"https://x; script-src *"},{"url":"ftp://x"},{"url":"http://[::1]:80"}]}`
		got := serve(t, newPage(t, []byte(text), ""), http.MethodGet, "/").Header().Get("Content-Security-Policy")
		if want := "connect-src 'self' https://eu.example.com:8443 http://[::1]:80;"; !strings.Contains(got, want) {
			t.Errorf("policy = %s, want %s", got, want)
		}
	})

	t.Run("serves the page for each representation with an entity tag", func(t *testing.T) {
		if html.Code != http.StatusOK || html.Header().Get("Content-Type") != "text/html; charset=utf-8" ||
			html.Header().Get("Cache-Control") != "no-cache" || html.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("response = %d %v", html.Code, html.Header())
		}
		packed := serve(t, p, http.MethodGet, "/docs/reference", "Accept-Encoding", "br, gzip;q=0.5")
		if packed.Header().Get("Content-Encoding") != "gzip" || packed.Header().Get("Etag") == html.Header().Get("Etag") {
			t.Errorf("headers = %v", packed.Header())
		}
		for _, encoding := range []string{"gzip;q=0", "br", "*;q=0", "gzip;q=x", ""} {
			if got := serve(t, p, http.MethodGet, "/docs/reference", "Accept-Encoding", encoding).Header().Get("Content-Encoding"); got != "" {
				t.Errorf("Accept-Encoding %s: Content-Encoding = %s", encoding, got)
			}
		}
		again := serve(t, p, http.MethodGet, "/docs/reference", "Accept-Encoding", "*", "If-None-Match", packed.Header().Get("Etag"))
		if again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("response = %d, %d bytes", again.Code, again.Body.Len())
		}
		head := serve(t, p, http.MethodHead, "/docs/reference", "Accept-Encoding", "gzip")
		if head.Body.Len() > 0 || head.Header().Get("Content-Length") != packed.Header().Get("Content-Length") {
			t.Errorf("HEAD = %v", head.Header())
		}
	})

	t.Run("serves assets that do not change", func(t *testing.T) {
		links := regexp.MustCompile(`(?:href|src)="reference(/assets/[^"]+)"`).FindAllStringSubmatch(html.Body.String(), -1)
		if len(links) != 3 {
			t.Fatalf("links = %v", links)
		}
		for _, link := range links {
			w := serve(t, p, http.MethodGet, "/docs/reference"+link[1])
			if w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
				t.Errorf("%s = %d %v", link[1], w.Code, w.Header())
			}
		}
	})

	t.Run("rejects other paths and methods", func(t *testing.T) {
		for path, want := range map[string]int{
			"/docs/reference/x": 404, "/docs/reference/assets/reference.css": 404, "/docs/reference/operations/op-getUser": 404,
		} {
			if got := serve(t, p, http.MethodGet, path).Code; got != want {
				t.Errorf("GET %s = %d, want %d", path, got, want)
			}
		}
		w := serve(t, p, http.MethodPost, "/docs/reference")
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("POST = %d %v", w.Code, w.Header())
		}
	})

	t.Run("redirects to the path without a slash", func(t *testing.T) {
		w := serve(t, p, http.MethodGet, "/docs/reference/")
		if w.Code != http.StatusPermanentRedirect || w.Header().Get("Location") != "../reference" {
			t.Errorf("response = %d %v", w.Code, w.Header())
		}
	})

	t.Run("serves the root of a host", func(t *testing.T) {
		root := newPage(t, document(t, 101), "/")
		body := serve(t, root, http.MethodGet, "/").Body.String()
		if !strings.Contains(body, `href="assets/reference.`) || !strings.Contains(body, `<a href="operations/op-getUser00">`) {
			t.Errorf("body = %.2000s", body)
		}
		single := serve(t, root, http.MethodGet, "/operations/op-getUser00").Body.String()
		if !strings.Contains(single, `href="../assets/reference.`) || !strings.Contains(single, `href="../#op-getUser00" aria-current="page"`) {
			t.Errorf("body = %.2000s", single)
		}
	})
}

var tags = regexp.MustCompile(`<[^>]*>`)

// text returns the text of an operation, without markup and repeated spaces.
func text(t *testing.T, html, anchor string) string {
	t.Helper()
	_, part, found := strings.Cut(html, `id="`+anchor+`"`)
	if !found {
		t.Fatalf("%s is missing", anchor)
	}
	part, _, _ = strings.Cut(part, "\n<details class=\"op\"")
	part, _, _ = strings.Cut(part, "</section>\n<section class=\"group\"")
	part = tags.ReplaceAllString(strings.ReplaceAll("<"+part, "<wbr>", ""), " ")
	return strings.Join(strings.Fields(part), " ")
}

func TestPage_Content(t *testing.T) {
	html := serve(t, newPage(t, read(t, "usercenter.json"), "/reference"), http.MethodGet, "/reference").Body.String()
	for _, tc := range []struct{ name, anchor, want string }{
		{name: "parameters", anchor: "op-listUsers", want: "Query parameters page integer ≥ 1 Default: 1 size integer ≥ 1 ≤ 100 Default: 20 role array of string Only users with one of the roles Values: admin , member , guest"},
		{name: "deprecated parameter", anchor: "op-listUsers", want: "active boolean deprecated"},
		{name: "parameter of the path", anchor: "op-getUser", want: "Path parameters id required string pattern ^[0-9]&#43;$ ID of the user Example: 42 Header parameters X-Trace string at most 64 characters"},
		{name: "request body", anchor: "op-createUser", want: "Request body required application/json CreateUser no other members username required string 3 to 32 characters Login name Example: ada email required string (email)"},
		{name: "rules", anchor: "op-createUser", want: "birthday string (date) or null labels map of string each value: at most 20 characters code string at least 4 characters rule startswith=A"},
		{name: "envelope", anchor: "op-createUser", want: "application/json · envelope with context , output , code , message , overhead data User id required string read-only"},
		{name: "nested objects", anchor: "op-getUser", want: "addresses array of Address at most 5 items 2 fields city required string at least 1 character zip string"},
		{name: "recursion", anchor: "op-getUser", want: "manager User or null The manager , if any The fields are described further up."},
		{name: "alternatives", anchor: "op-getUser", want: "contact one of Address 2 fields city required string at least 1 character zip string pattern ^[0-9]{5}$ string (email)"},
		{name: "response headers", anchor: "op-createUser", want: "201 Response user registered Headers Location required string (uri-reference) Path of the user"},
		{name: "error codes", anchor: "op-createUser", want: "400 40001 EXISTED The item already exists 内容已存在 400 40030 VALIDATION_ERROR The input did not pass validation 输入校验未通过"},
		{name: "referenced error codes", anchor: "op-getUser", want: "401 40110 USER_NOT_FOUND The user does not exist 用户不存在"},
		{name: "error codes of schemas", anchor: "op-getUser", want: "403 40301 NO_PERMISSION Only administrators see other users 403 40302"},
		{name: "error without a code", anchor: "op-deleteUser", want: "default Any error"},
		{name: "security", anchor: "op-deleteUser", want: "This operation is deprecated. Operation deleteUser Security: bearerAuth (admin) or apiKey"},
		{name: "form", anchor: "op-uploadAvatar", want: "multipart/form-data object file required string (binary) A picture of at most 1 MB title string at most 50 characters tags array of string"},
		{name: "operation without an ID", anchor: "op-GET-healthz", want: "GET /healthz Liveness"},
		{name: "operation without a summary", anchor: "op-export", want: "GET /api/v1/export export"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := text(t, html, tc.anchor); !strings.Contains(got, tc.want) {
				t.Errorf("%s = %s\nwant %s", tc.anchor, got, tc.want)
			}
		})
	}

	t.Run("languages of messages", func(t *testing.T) {
		for _, want := range []string{`<div lang="zh">内容已存在</div>`, `<div lang="en">The item already exists</div>`, `<div lang="zh">输入校验未通过</div>`} {
			if !strings.Contains(html, want) {
				t.Errorf("%s is missing", want)
			}
		}
	})

	t.Run("attributes of the form", func(t *testing.T) {
		for _, want := range []string{
			`<li data-in="query" data-name="sort" data-kind="array" data-joined>`,
			`<li data-in="path" data-name="id" data-kind="string" data-required data-joined data-value="42">`,
			`<li data-in="form" data-name="file" data-kind="string" data-required data-file>`,
			`data-method="DELETE" data-path="/api/v1/users/{id}" data-schemes="bearerAuth apiKey"`,
			`data-scheme="apiKey" data-in="header" data-key="X-API-Key" data-prefix=""`,
			`data-find="getUser 40110 USER_NOT_FOUND 40301 NO_PERMISSION 40302"`,
		} {
			if !strings.Contains(html, want) {
				t.Errorf("%s is missing", want)
			}
		}
	})
}

func TestPage_Escape(t *testing.T) {
	p := newPage(t, read(t, "hostile.json"), "/reference")
	w := serve(t, p, http.MethodGet, "/reference")
	html := w.Body.String()
	scripts := regexp.MustCompile(`(?i)<(script|img|iframe|svg|object|style)[^>]*>`).FindAllString(html, -1)
	if len(scripts) != 1 || !strings.HasPrefix(scripts[0], `<script src="reference/assets/`) {
		t.Errorf("elements = %q", scripts)
	}
	if attributes := regexp.MustCompile(`(?i)<[^>]*\s(on\w+|style)=[^>]*>`).FindAllString(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(html, `""`), -1); len(attributes) > 0 {
		t.Errorf("attributes = %q", attributes)
	}
	if links := regexp.MustCompile(`(?i)(href|src)="\s*(javascript|data|vbscript):`).FindAllString(html, -1); len(links) > 0 {
		t.Errorf("links = %q", links)
	}
	if got := w.Header().Get("Content-Security-Policy"); strings.Contains(got, "evil") {
		t.Errorf("policy = %s", got)
	}
	ids := map[string]int{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		ids[m[1]]++
		if ids[m[1]] > 1 || strings.ContainsAny(m[1], " <>") {
			t.Errorf("id %q", m[1])
		}
	}
	if diff := cmp.Diff([]int{1, 1}, []int{ids["op-same"], ids["op-same-2"]}); diff != "" {
		t.Errorf("operations with the same ID (-want +got):\n%s", diff)
	}
}

// FuzzPage checks that each document can be rendered.
func FuzzPage(f *testing.F) {
	for _, name := range []string{"usercenter.json", "hostile.json"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"openapi":"3.1.0","info":{"title":"x"},"paths":{"":{"get":{"responses":{"":{"content":{"":{}}},"é":{}},"parameters":[{"name":"\u0000","in":"query"}]}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := page.New(text, page.Options{Base: "/reference"})
		if err != nil {
			return
		}
		w := serve(t, p, http.MethodGet, "/reference")
		if body := w.Body.String(); w.Code != http.StatusOK || !strings.HasPrefix(body, "<!doctype html>") {
			t.Errorf("page of %q = %d %.300s", text, w.Code, body)
		}
	})
}
