//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
)

// connect opens a WebSocket.
func connect(t *testing.T, url string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(url, "http")+"/ws", nil) //nolint:bodyclose // the connection owns the body
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

// exchange sends a message and waits until all connections have received it.
func exchange(t *testing.T, text string, sender *websocket.Conn, receivers ...*websocket.Conn) {
	t.Helper()
	if err := sender.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, conn := range append(receivers, sender) {
		for got := ""; got != text; {
			_, message, err := conn.Read(t.Context())
			if err != nil {
				t.Fatalf("no message %q: %v", text, err)
			}
			got = string(message)
		}
	}
}

// wantClose reads until the connection is closed with a code.
func wantClose(t *testing.T, conn *websocket.Conn, want websocket.StatusCode) {
	t.Helper()
	for {
		if _, _, err := conn.Read(t.Context()); err != nil {
			if got := websocket.CloseStatus(err); got != want {
				t.Errorf("close status = %d (%v), want %d", got, err, want)
			}
			return
		}
	}
}

func TestRoom(t *testing.T) {
	url := newServer(t)
	t.Run("sends a message to all members", func(t *testing.T) {
		a, b := connect(t, url), connect(t, url)
		exchange(t, "from a", a) // a is a member
		exchange(t, "from b", b)
		exchange(t, "to both", a, b)
		if err := a.Close(websocket.StatusNormalClosure, ""); err != nil {
			t.Error(err)
		}
		_ = b.CloseNow()
	})
	t.Run("rejects a large message", func(t *testing.T) {
		conn := connect(t, url)
		if err := conn.Write(t.Context(), websocket.MessageText, make([]byte, maxMessage+1)); err != nil {
			t.Fatal(err)
		}
		wantClose(t, conn, websocket.StatusMessageTooBig)
	})
	t.Run("rejects pages of other hosts", func(t *testing.T) {
		_, resp, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(url, "http")+"/ws", //nolint:bodyclose // closed by Dial
			&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"https://evil.example"}}})
		if err == nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("Dial = %v, want 403", err)
		}
	})
	t.Run("requires an upgrade", func(t *testing.T) {
		app, _ := newApp(t)
		if r := app.Request(http.MethodGet, "/ws", nil); r.Status() != http.StatusUpgradeRequired {
			t.Errorf("status = %d, want 426", r.Status())
		}
	})
}

// A member that does not read is removed, and the others receive all messages.
func TestRoom_SlowMember(t *testing.T) {
	r := newRoom()
	canceled := make(chan error, 1)
	r.join(&member{messages: make(chan []byte), cancel: func(cause error) { canceled <- cause }})
	reader := &member{messages: make(chan []byte, 1)}
	r.join(reader)
	r.send([]byte("hello"))
	if err := <-canceled; err != errSlow { //nolint:errorlint // the cause itself
		t.Errorf("cause = %v, want errSlow", err)
	}
	if got := <-reader.messages; string(got) != "hello" {
		t.Errorf("message = %q, want hello", got)
	}
}

// goleak checks in TestMain that no goroutine of the connections remains.
func TestShutdown_InProcess(t *testing.T) {
	root, err := openFiles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	t.Setenv("LOG_DIR", "none")
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	reg, err := xreg.New(t.Context(), nil, append(options(root), xoption.WithoutEnvFile(),
		xoption.WithListener(l), xoption.WithDrainDelay(0))...)
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	reg.Lifecycle().OnReady("test", func(context.Context) error { close(ready); return nil })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- xmain.RunContext(ctx, reg, nil, nil) }()
	<-ready
	a, b := connect(t, url), connect(t, url)
	exchange(t, "from a", a)
	exchange(t, "from b", b)
	stop()
	wantClose(t, a, websocket.StatusGoingAway)
	wantClose(t, b, websocket.StatusGoingAway)
	if err := <-done; err != nil {
		t.Errorf("RunContext = %v, want nil", err)
	}
}

// launch starts the service in a separate process and returns its address when it is
// ready.
func launch(t *testing.T) (cmd *exec.Cmd, url string) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), os.Args[0])
	cmd.Dir = t.TempDir()
	cmd.Env = []string{
		serviceKey.String() + "=1", "TMPDIR=" + cmd.Dir, "PLINTH_HOST=127.0.0.1", "PLINTH_PORT=0",
		"LOG_DIR=none", "PLINTH_DRAIN_DELAY=0",
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for reader := bufio.NewReader(pipe); ; {
		text, err := reader.ReadBytes('\n')
		if err != nil {
			t.Fatalf("the service exited before it was ready: %v", err)
		}
		var line struct{ Msg, Address string }
		if json.Unmarshal(text, &line) == nil && line.Msg == "ready" {
			return cmd, line.Address
		}
	}
}

func TestShutdown_Signal(t *testing.T) {
	cmd, url := launch(t)
	conns := []*websocket.Conn{connect(t, url), connect(t, url)}
	silent := connect(t, url) // does not respond to the close frame
	for _, conn := range conns {
		exchange(t, "ready", conn)
	}
	start := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for _, conn := range conns {
		wantClose(t, conn, websocket.StatusGoingAway)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit = %v, want 0", err)
	}
	if elapsed := time.Since(start); elapsed > 10*time.Second {
		t.Errorf("the shutdown took %s", elapsed)
	}
	_ = silent.CloseNow()
	t.Logf("the shutdown took %s", time.Since(start))
}
