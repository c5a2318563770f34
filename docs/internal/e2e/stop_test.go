package e2e_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestServe_Shutdown sends half of a request, then the stop signal, then the other half.
func TestServe_Shutdown(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	s := start(t, binary(t))
	address := strings.TrimPrefix(s.base, "http://")
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(serverTimeout)); err != nil {
		t.Fatal(err)
	}
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sector","arguments":{}}}`
	write := func(text string) {
		if _, err := conn.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write(fmt.Sprintf("POST /api/mcp HTTP/1.1\r\nHost: %s\r\n"+
		"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"MCP-Protocol-Version: 2025-11-25\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n",
		address, len(body)))
	reader := bufio.NewReader(conn)
	// the handler reads the body now
	if line, err := reader.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("status line = %q, %v; want 100 Continue", line, err)
	}
	if _, err := reader.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	write(body[:20])
	s.terminate()
	s.waitRefused(t)
	write(body[20:])
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatalf("read the response: %v", err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("response = %s, want 200 OK for the in-flight request", response.Status)
	}
	s.stop(t)
}

// waitRefused waits until the server rejects connections.
func (s *server) waitRefused(t *testing.T) {
	t.Helper()
	tick, limit := time.NewTicker(10*time.Millisecond), time.After(serverTimeout)
	defer tick.Stop()
	for s.healthy() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("the server still accepts connections")
		}
	}
}
