package xhelper_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xresult"
)

type response struct {
	status int
	header http.Header
	body   string
	closes bool // the server closes the connection
}

// call sends a request over the network. It also returns errors of reading the body.
func call(t *testing.T, s *httptest.Server, method, path string, body io.Reader) (response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	return fetch(req)
}

func fetch(req *http.Request) (response, error) {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = res.Body.Close() }()
	return readResponse(res)
}

func sendRaw(t *testing.T, s *httptest.Server, text string) (response, error) {
	t.Helper()
	res, err := http.ReadResponse(raw(t, s, text), nil)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = res.Body.Close() }()
	return readResponse(res)
}

func readResponse(res *http.Response) (response, error) {
	body, err := io.ReadAll(res.Body)
	return response{
		status: res.StatusCode, header: res.Header, body: string(body), closes: res.Close,
	}, err
}

func echo(c *gin.Context) {
	body, err := io.ReadAll(c.Request.Body)
	if err != nil {
		_ = c.Error(err)
		return
	}
	xresult.SuccessHasData(c, "read", len(body))
}

type chunked struct{ io.Reader }

func TestServe_MaxBodyBytes(t *testing.T) {
	t.Run("rejects larger bodies", func(t *testing.T) {
		const limit = 1000
		for _, tc := range []struct {
			name   string
			path   string
			size   int
			status int
		}{
			{name: "empty", path: "/", size: 0, status: 200},
			{name: "at the limit", path: "/", size: limit, status: 200},
			{name: "over the limit", path: "/", size: limit + 1, status: 413},
			{name: "far over the limit", path: "/", size: 8 << 20, status: 413},
			{name: "route with a higher limit", path: "/upload/1", size: 8 << 20, status: 200},
			{name: "route with a lower limit", path: "/tiny", size: 11, status: 413},
		} {
			for kind, reader := range map[string]func(int) io.Reader{
				"declared": func(n int) io.Reader {
					return strings.NewReader(strings.Repeat("x", n))
				},
				"chunked": func(n int) io.Reader {
					return chunked{strings.NewReader(strings.Repeat("x", n))}
				},
			} {
				t.Run(tc.name+" "+kind, func(t *testing.T) {
					engine, _ := newEngine(t, xhelper.Config{
						MaxBodyBytes:      limit,
						RouteMaxBodyBytes: map[string]int64{"/upload/:id": 10 << 20, "/tiny": 10},
					})
					engine.POST("/", echo)
					engine.POST("/upload/:id", echo)
					engine.POST("/tiny", echo)
					res, err := call(t, listen(t, engine), http.MethodPost, tc.path,
						reader(tc.size))
					if err != nil {
						t.Fatal(err)
					}
					want := map[int]string{200: "Success", 413: "PAYLOAD_TOO_LARGE"}[tc.status]
					if got := decode(t, res.body)["output"]; res.status != tc.status ||
						got != want {
						t.Errorf("got %d %v, want %d %s", res.status, got, tc.status, want)
					}
				})
			}
		}
	})

	t.Run("rejects a declared length without reading", func(t *testing.T) {
		engine, _ := newEngine(t, xhelper.Config{})
		engine.POST("/", func(*gin.Context) { t.Error("handler was called") })
		s := listen(t, engine)
		res, err := sendRaw(t, s,
			"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000000\r\n\r\nfirst bytes")
		if err != nil || res.status != http.StatusRequestEntityTooLarge || !res.closes {
			t.Fatalf("status %d, closes %t, %v", res.status, res.closes, err)
		}
		if got := decode(t, res.body); got["output"] != "PAYLOAD_TOO_LARGE" ||
			!strings.Contains(fmt.Sprint(got["error_message"]), "4194304") {
			t.Errorf("body = %s, want the default limit in the message", res.body)
		}
	})

	t.Run("closes the connection of an endless body", func(t *testing.T) {
		engine, _ := newEngine(t, xhelper.Config{MaxBodyBytes: 10})
		engine.POST("/", echo)
		sent := "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n" +
			strings.Repeat("x", 50)
		res, err := sendRaw(t, listen(t, engine), sent)
		if err != nil || res.status != http.StatusRequestEntityTooLarge || !res.closes {
			t.Errorf("status %d, closes %t, %v; want 413 and a closed connection",
				res.status, res.closes, err)
		}
	})

	t.Run("has no limit if negative", func(t *testing.T) {
		engine, _ := newEngine(t, xhelper.Config{MaxBodyBytes: -1})
		engine.POST("/", echo)
		res, err := call(t, listen(t, engine), http.MethodPost, "/",
			chunked{strings.NewReader(strings.Repeat("x", 5<<20))})
		if err != nil || decode(t, res.body)["data"] != 5.0*(1<<20) {
			t.Errorf("got %s, %v", res.body, err)
		}
	})
}

func TestServe_HeadError(t *testing.T) {
	engine, _ := newEngine(t, xhelper.Config{})
	engine.HEAD("/", func(c *gin.Context) { _ = c.Error(xerror.New(xerror.NotFound, "")) })
	s := listen(t, engine)
	reader := raw(t, s, "HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	text, err := io.ReadAll(reader)
	head, body, _ := strings.Cut(string(text), "\r\n\r\n")
	if err != nil || body != "" || !strings.HasPrefix(head, "HTTP/1.1 404") ||
		!strings.Contains(head, "Content-Length:") {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestServe_Hijack(t *testing.T) {
	engine, log := newEngine(t, xhelper.Config{})
	engine.GET("/", func(c *gin.Context) {
		conn, rw, err := http.NewResponseController(c.Writer).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\n\r\nmine")
		_ = rw.Flush()
		_ = c.Error(errors.New("too late"))
	})
	done := make(chan struct{})
	s := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done) // the server does not wait for hijacked connections
		engine.ServeHTTP(w, r)
	}))
	text, err := io.ReadAll(raw(t, s,
		"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: mine\r\n\r\n"))
	if err != nil || string(text) != "HTTP/1.1 101 Switching Protocols\r\n\r\nmine" {
		t.Errorf("got %q, %v", text, err)
	}
	<-done
	if got := log.with(t, "request"); len(got) != 1 || got[0]["status"] != 101.0 {
		t.Errorf("access log = %v, want one line with 101", got)
	}
}

func TestServe_ResponseController(t *testing.T) {
	engine, _ := newEngine(t, xhelper.Config{})
	engine.GET("/", func(c *gin.Context) {
		conn := http.NewResponseController(c.Writer)
		if err := conn.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Error(err)
		}
		if err := conn.EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		success(c)
	})
	if _, err := call(t, listen(t, engine), http.MethodGet, "/", http.NoBody); err != nil {
		t.Error(err)
	}
}

func TestServe_AccessLog(t *testing.T) {
	t.Run("contains no secrets", func(t *testing.T) {
		engine, log := newEngine(t, xhelper.Config{})
		engine.POST("/user/:id", func(c *gin.Context) {
			xresult.SuccessHasData(c, "found", "confidential data")
		})
		s := listen(t, engine)
		res, err := call(t, s, http.MethodPost, "/user/7%0A%1b[31m?token=confidential-token",
			strings.NewReader("confidential body"))
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		lines := log.with(t, "request")
		if len(lines) != 1 || strings.Count(log.String(), "\n") != 1 {
			t.Fatalf("log = %q, want one line", log)
		}
		if strings.Contains(log.String(), "confidential") {
			t.Errorf("log = %s, want no query, body or data", log)
		}
		for key, want := range map[string]any{
			"method":     "POST",
			"path":       "/user/7\n\x1b[31m",
			"route":      "/user/:id",
			"status":     200.0,
			"bytes":      float64(len(res.body)),
			"client_ip":  "127.0.0.1",
			"request_id": res.header.Get("X-Request-UUID"),
			"level":      "info",
			"name":       "HTTP",
		} {
			if got := lines[0][key]; got != want {
				t.Errorf("%s = %v, want %v", key, got, want)
			}
		}
	})

	t.Run("has the level of the status", func(t *testing.T) {
		engine, log := newEngine(t, xhelper.Config{QuietURLs: []string{"/healthz/**"}})
		for path, code := range map[string]*xerror.ErrorCode{
			"/404":         xerror.NotFound,
			"/502":         xerror.GatewayError,
			"/healthz/bad": xerror.ServiceUnavailable,
		} {
			engine.GET(path, func(c *gin.Context) {
				_ = c.Error(xerror.New(code, "for the client"))
			})
		}
		engine.GET("/healthz", success)
		for path, want := range map[string]string{
			"/404":         "info",
			"/502":         "error",
			"/healthz/bad": "error",
			"/healthz":     "",
		} {
			before := len(log.with(t, "request"))
			do(engine, http.MethodGet, path)
			lines := log.with(t, "request")[before:]
			got := ""
			if len(lines) == 1 {
				got = fmt.Sprint(lines[0]["level"])
			}
			if got != want {
				t.Errorf("%s: level = %q, want %q", path, got, want)
			}
		}
	})
}

func TestServe_TrustProxies(t *testing.T) {
	for _, tc := range []struct {
		name   string
		trust  bool
		remote string
		want   string
	}{
		{name: "by default", remote: "192.0.2.1:1234", want: "192.0.2.1"},
		{name: "IPv6", remote: "[2001:db8::1]:1234", want: "2001:db8::1"},
		{name: "address without a port", remote: "2001:db8::1", want: "2001:db8::1"},
		{name: "Unix socket", remote: "@", want: "@"},
		{name: "trusted proxy", trust: true, remote: "192.0.2.1:1234", want: "203.0.113.9"},
		{name: "another proxy", trust: true, remote: "198.51.100.1:1234", want: "198.51.100.1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			engine, log := newEngine(t, xhelper.Config{TrustProxies: tc.trust})
			if err := engine.SetTrustedProxies([]string{"192.0.2.0/24"}); err != nil {
				t.Fatal(err)
			}
			engine.GET("/", success)
			req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
			req.RemoteAddr = tc.remote
			send(engine, req, "X-Forwarded-For", "203.0.113.9")
			if got := log.with(t, "request")[0]["client_ip"]; got != tc.want {
				t.Errorf("client_ip = %v, want %s", got, tc.want)
			}
		})
	}
}

func TestServe_Concurrent(t *testing.T) {
	engine, _ := newEngine(t, xhelper.Config{EnableInput: true})
	engine.GET("/", func(c *gin.Context) {
		if c.Query("fail") != "" {
			panic("boom")
		}
		success(c)
	})
	s := listen(t, engine)
	errs := make(chan error)
	const clients, each = 8, 50
	for client := range clients {
		go func() { errs <- sendMany(s.URL, client, each) }()
	}
	for range clients {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// sendMany sends requests with request IDs. Every fifth request panics.
func sendMany(url string, client, count int) error {
	for i := range count {
		id := fmt.Sprintf("client-%d-%d", client, i)
		target := url
		if i%5 == 0 {
			target += "?fail=1"
		}
		req, err := http.NewRequest(http.MethodGet, target, http.NoBody) //nolint:noctx // the test closes the server
		if err != nil {
			return err
		}
		req.Header.Set("X-Request-UUID", id)
		got, err := fetch(req)
		if err != nil {
			return err
		}
		if !strings.Contains(got.body, id) || got.header.Get("X-Request-UUID") != id {
			return fmt.Errorf("request %s got %s", id, got.body)
		}
	}
	return nil
}
