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

// trafficServer returns a server that tracks its requests, over HTTP/1.1 and HTTP/2. The
// path selects the behavior of a request.
func trafficServer(t *testing.T, traffic *traffic) *httptest.Server {
	t.Helper()
	serve := func(w http.ResponseWriter, req *http.Request, q *request) {
		switch req.URL.Path {
		case "/panic":
			panic(http.ErrAbortHandler)
		case "/hijack":
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				_ = conn.Close()
			}
		case "/stream":
			var reports sync.WaitGroup
			for range 4 { // concurrently, repeatedly, and possibly after the handler has returned
				reports.Go(func() { traffic.markStream(q) })
			}
			go traffic.markStream(q)
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
			serve(w, req, q)
		}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	traffic.trackConnections(server.Config)
	server.Start() // replaces ConnState
	t.Cleanup(server.Close)
	return server
}

// sendRequest sends a request. It cancels a streaming request before the response is
// complete.
func sendRequest(t *testing.T, transport *http.Transport, url string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	switch req.URL.Path {
	case "/events":
		req.Header.Set("Accept", "text/event-stream")
	case "/stream":
		time.AfterFunc(5*time.Millisecond, cancel)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return // expected for some of the paths
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
	var sent atomic.Int64
	for i := range 24 {
		clients.Go(func() {
			overHTTP2 := i%2 == 1
			protocols := new(http.Protocols)
			protocols.SetHTTP1(!overHTTP2)
			protocols.SetUnencryptedHTTP2(overHTTP2)
			transport := &http.Transport{Protocols: protocols, DisableKeepAlives: i%4 == 0}
			defer transport.CloseIdleConnections()
			for n := 0; ctx.Err() == nil; n++ {
				sendRequest(t, transport,
					server.URL+[]string{"/", "/stream", "/panic", "/", "/hijack", "/events"}[n%6])
				sent.Add(1)
			}
		})
	}
	// stop the streams while the clients start new ones
	time.AfterFunc(200*time.Millisecond, func() { tr.stopStreams(t.Context()) })
	clients.Wait()
	waitCtx, cancelWait := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancelWait()
	if err := server.Config.Shutdown(waitCtx); err != nil {
		t.Error(err)
	}
	for name, n := range map[string]*atomic.Int64{
		"requests": &tr.requests, "streams": &tr.streams, "pending": &tr.pending,
	} {
		if left := waitZero(waitCtx, n); left != 0 || n.Load() != 0 {
			t.Errorf("%d %s left after %d requests", n.Load(), name, sent.Load())
		}
	}
	tracked := 1
	// the ConnState hook runs after Shutdown has closed the connection
	for tracked > 0 && waitCtx.Err() == nil {
		tracked = 0
		tr.conns.Range(func(any, any) bool { tracked++; return true })
	}
	if tracked > 0 {
		t.Errorf("%d connections are still tracked", tracked)
	}
}
