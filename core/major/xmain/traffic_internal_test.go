package xmain

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// trafficServer counts what it answers, over HTTP/1.1 and HTTP/2. The path says what a
// request does.
func trafficServer(t *testing.T, traffic *traffic) *httptest.Server {
	t.Helper()
	answer := func(w http.ResponseWriter, req *http.Request, q *request) {
		switch req.URL.Path {
		case "/panic":
			panic(http.ErrAbortHandler)
		case "/hijack":
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				_ = conn.Close()
			}
		case "/stream":
			var reports sync.WaitGroup
			for range 4 { // in any goroutine, more than once, perhaps when the handler has returned
				reports.Go(func() { traffic.stream(q) })
			}
			go traffic.stream(q)
			reports.Wait()
			<-req.Context().Done()
		default:
			_, _ = io.WriteString(w, "ok")
		}
	}
	server := httptest.NewUnstartedServer(
		http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			conn := connectionOf(req)
			req, q := traffic.enter(conn, req)
			defer traffic.leave(conn, q)
			answer(w, req, q)
		}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	traffic.watch(server.Config)
	server.Start() // which replaces the ConnState
	t.Cleanup(server.Close)
	return server
}

// ask sends a request. Of one that may not end the client leaves in the middle.
func ask(t *testing.T, transport *http.Transport, url string) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	switch req.URL.Path {
	case "/events":
		req.Header.Set("Accept", "text/event-stream")
	case "/stream":
		time.AfterFunc(5*time.Millisecond, leave)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return // as the server or the client wanted
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

func TestTraffic(t *testing.T) {
	tr := newTraffic()
	server := trafficServer(t, tr)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var clients sync.WaitGroup
	var asked atomic.Int64
	for i := range 24 {
		clients.Go(func() {
			overHTTP2 := i%2 == 1
			protocols := new(http.Protocols)
			protocols.SetHTTP1(!overHTTP2)
			protocols.SetUnencryptedHTTP2(overHTTP2)
			transport := &http.Transport{Protocols: protocols, DisableKeepAlives: i%4 == 0}
			defer transport.CloseIdleConnections()
			for n := 0; ctx.Err() == nil; n++ {
				ask(t, transport,
					server.URL+[]string{"/", "/stream", "/panic", "/", "/hijack", "/events"}[n%6])
				asked.Add(1)
			}
		})
	}
	time.AfterFunc(200*time.Millisecond, func() { tr.stopStreams(t.Context()) }) // while more begin
	clients.Wait()
	limit, done := context.WithTimeout(t.Context(), 20*time.Second)
	defer done()
	if err := server.Config.Shutdown(limit); err != nil {
		t.Error(err)
	}
	for name, n := range map[string]*atomic.Int64{
		"requests": &tr.requests, "streams": &tr.streams,
		"pending": &tr.pending,
	} {
		if left := wait(limit, n); left != 0 || n.Load() != 0 {
			t.Errorf("%d %s are left of %d requests", n.Load(), name, asked.Load())
		}
	}
	kept := 1
	// the hook of a connection runs after Shutdown has closed it
	for kept > 0 && limit.Err() == nil {
		kept = 0
		tr.conns.Range(func(any, any) bool { kept++; return true })
	}
	if kept > 0 {
		t.Errorf("%d connections are kept", kept)
	}
}
