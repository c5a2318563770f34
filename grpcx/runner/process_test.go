//go:build unix

package runner_test

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestProgram_Shutdown(t *testing.T) {
	t.Run("waits for in-flight calls and requests", func(t *testing.T) {
		p := startProgram(t, "serve").ready()
		call := callUnary(t.Context(), p.client(), "slow")
		p.line("entered")
		request := make(chan error, 1)
		go func() {
			code, _, err := get(t, p.url+"/slow")
			if code != http.StatusOK {
				err = errors.Join(err, errors.New(http.StatusText(code)))
			}
			request <- err
		}()
		p.line("entered")
		p.terminate()
		p.line("stopping")
		waitRefused(t, p.address)
		p.release() // the call and the request finish
		if err := <-call; err != nil {
			t.Errorf("call in flight = %v, want OK", err)
		}
		if err := <-request; err != nil {
			t.Errorf("request in flight = %v, want 200", err)
		}
		p.wantExit(0)
		p.wantOrder("stopping", `"returned"`, `"msg":"call"`, "node closed", "stopped")
		p.wantOrder("stopping", `"msg":"request"`, "node closed")
	})

	t.Run("force closes endless streams with a warning", func(t *testing.T) {
		p := startProgram(t, "serve", gracefulKey.String()+"=300ms").ready()
		for range 2 {
			p.openStream("endless")
		}
		p.terminate()
		p.wantExit(0)
		warning := `"level":"warn","name":"GRPC",` +
			`"msg":"in-flight calls force closed","unary":0,"streams":2`
		p.wantOnce(warning)
		p.wantOrder("stopping", "in-flight calls force closed",
			`"stream":"server","status":"CANCELLED"`, "node closed", "stopped")
	})

	t.Run("waits for a stream that ends when draining starts", func(t *testing.T) {
		p := startProgram(t, "serve").ready()
		stream := p.openStream("draining")
		p.terminate()
		response, err := stream.Recv()
		if err != nil || response.GetText() != "goodbye" {
			t.Errorf("stream = %v, %v; want the last message", response, err)
		}
		p.wantExit(0)
		if strings.Contains(p.output(), "force closed") {
			t.Errorf("output\n%s\nwant no calls force closed", p.output())
		}
	})

	t.Run("exits with 1 if unary calls were force closed", func(t *testing.T) {
		p := startProgram(t, "serve", gracefulKey.String()+"=300ms").ready()
		client := p.client()
		var calls []<-chan error
		for range 3 {
			calls = append(calls, callUnary(t.Context(), client, "wait for cancel"))
			p.line("entered")
		}
		p.terminate()
		p.wantExit(1)
		for _, call := range calls {
			if err := <-call; err == nil {
				t.Error("call = OK, want an error")
			}
		}
		p.wantOnce(`"msg":"in-flight calls force closed","unary":3,"streams":0`)
		p.wantOnce("3 unary calls force closed: graceful stop timed out")
		p.wantOrder("stopping", `"returned"`, `"status":"CANCELLED"`, "node closed", "stopped")
		if n := strings.Count(p.output(), `"msg":"call"`); n != 3 {
			t.Errorf("lines of calls = %d, want 3:\n%s", n, p.output())
		}
	})

	t.Run("abandons a handler that ignores its context", func(t *testing.T) {
		p := startProgram(t, "serve", gracefulKey.String()+"=300ms",
			"PLINTH_SHUTDOWN_TIMEOUT=2s").ready()
		callUnary(t.Context(), p.client(), "ignore cancel")
		p.line("entered")
		p.terminate()
		p.wantExit(1) // the handler never returns
		p.wantOnce("1 unary calls force closed")
		p.wantOnce("1 handlers still running after their context was canceled")
		p.wantOrder("stopping", "node closed", "stopped")
	})

	t.Run("uses the shorter timeout", func(t *testing.T) {
		for _, tc := range []struct {
			name, graceful, shutdown string
			minimum                  time.Duration
		}{
			{
				name: "graceful stop timeout", graceful: "300ms", shutdown: "1m",
				minimum: 300 * time.Millisecond,
			},
			{
				name: "shutdown timeout", graceful: "1h", shutdown: "2s",
				minimum: 700 * time.Millisecond,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				p := startProgram(t, "serve",
					gracefulKey.String()+"="+tc.graceful,
					"PLINTH_SHUTDOWN_TIMEOUT="+tc.shutdown).ready()
				p.openStream("endless")
				started := time.Now()
				p.terminate()
				p.wantExit(0) // long before the other timeout
				if elapsed := time.Since(started); elapsed < tc.minimum {
					t.Errorf("the shutdown took %s, want at least %s", elapsed, tc.minimum)
				}
				p.wantOnce("in-flight calls force closed")
			})
		}
	})

	t.Run("is not delayed by a silent connection", func(t *testing.T) {
		for _, graceful := range []string{"200ms", "1h"} {
			t.Run(graceful, func(t *testing.T) {
				p := startProgram(t, "serve", gracefulKey.String()+"="+graceful).ready()
				conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.address)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				p.openStream("draining")
				p.terminate()
				p.wantExit(0)
			})
		}
	})

	t.Run("exits immediately on a second signal", func(t *testing.T) {
		p := startProgram(t, "serve").ready()
		callUnary(t.Context(), p.client(), "ignore cancel")
		p.line("entered")
		p.terminate()
		p.line("stopping")
		p.terminate()
		p.wantExit(143)
	})
}

func TestProgram_Startup(t *testing.T) {
	t.Run("aborts on a signal during registration", func(t *testing.T) {
		for _, host := range []string{"127.0.0.1", "localhost"} {
			t.Run(host, func(t *testing.T) {
				p := startProgram(t, "slow registration", "PLINTH_HOST="+host)
				p.line("registering")
				p.terminate()
				p.wantExit(0)
				if out := p.output(); strings.Contains(out, `"msg":"ready"`) ||
					strings.Contains(out, `"level":"error"`) {
					t.Errorf("output\n%s\nwant neither readiness nor an error", out)
				}
				p.wantOrder("start aborted", "node closed", "stopped")
			})
		}
	})

	t.Run("exits with 1 if the port is in use", func(t *testing.T) {
		address := listen(t).Addr().String()
		p := startProgram(t, "serve", "GRPC_PORT="+address[strings.LastIndex(address, ":")+1:])
		p.wantExit(1)
		p.wantOnce("GRPC_PORT: cannot listen on " + address)
		p.wantOrder("GRPC_PORT", "address already in use")
		if strings.Contains(p.output(), `"msg":"ready"`) {
			t.Errorf("output\n%s\nwant no readiness", p.output())
		}
	})

	t.Run("exits with 1 on invalid variables", func(t *testing.T) {
		p := startProgram(t, "serve", "GRPC_PORT=abc", "GRPC_REFLECTION=TRUE")
		p.wantExit(1)
		p.wantOnce(`GRPC_PORT: \"abc\"`)
		p.wantOnce(`GRPC_REFLECTION: \"TRUE\"`)
	})
}

func TestProgram_Reflection(t *testing.T) {
	p := startProgram(t, "serve", "GRPC_REFLECTION=true").ready()
	c := newReflectionClient(t, dial(t, p.address))
	response, err := c.call(c.method(serviceName, "Unary"), "hello")
	if err != nil || !strings.Contains(response.String(), "hello") {
		t.Errorf("response = %v, %v; want hello", response, err)
	}
	_ = c.stream.CloseSend()
	p.terminate()
	p.wantExit(0)
}
