//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	coder "github.com/coder/websocket"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// serviceKey makes the test binary run the service.
const serviceKey xenv.EnvKey = "STREAMS_TEST_SERVICE"

func TestMain(m *testing.M) {
	if _, ok := xenv.GetEnv(serviceKey); ok {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// launch starts the service in a separate process and returns its address when it is
// ready.
func launch(t *testing.T, env ...string) (cmd *exec.Cmd, url string) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), os.Args[0])
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{
		serviceKey.String() + "=1", "TMPDIR=" + cmd.Dir, "PLINTH_HOST=127.0.0.1", "PLINTH_PORT=0",
		"LOG_DIR=none",
	}, env...)
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

// openEvents opens the event stream and returns after the first event.
func openEvents(t *testing.T, url string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	if err != nil || line != "event:time\n" {
		t.Fatalf("first line = %q, %v; want an event", line, err)
	}
}

// openSocket opens a WebSocket and returns after the first echoed message.
func openSocket(t *testing.T, url string) {
	t.Helper()
	conn, _, err := coder.Dial(t.Context(), "ws"+strings.TrimPrefix(url, "http"), nil) //nolint:bodyclose // the connection owns the body
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	if err := conn.Write(t.Context(), coder.MessageText, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, got, err := conn.Read(t.Context()); err != nil || string(got) != "hello" {
		t.Fatalf("message = %q, %v; want hello", got, err)
	}
}

func TestShutdown_Streams(t *testing.T) {
	for _, tc := range []struct {
		name string
		open func(t *testing.T, url string)
	}{
		{"no stream", func(*testing.T, string) {}},
		{"server-sent events of gin", openEvents},
		{"coder/websocket", func(t *testing.T, url string) {
			t.Helper()
			openSocket(t, url+"/echo")
		}},
		{"gorilla/websocket", func(t *testing.T, url string) {
			t.Helper()
			openSocket(t, url+"/echo/gorilla")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			const delay = 300 * time.Millisecond
			cmd, url := launch(t, "PLINTH_DRAIN_DELAY="+delay.String())
			tc.open(t, url)
			start := time.Now()
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			elapsed := time.Since(start)
			if err != nil {
				t.Errorf("exit = %v, want 0", err)
			}
			if elapsed < delay || elapsed > delay+12*time.Second {
				t.Errorf("shutdown took %s, want little more than the drain delay of %s",
					elapsed, delay)
			}
			t.Logf("shutdown took %s", elapsed)
		})
	}
}
