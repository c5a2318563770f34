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

func TestSignalLetsCallsAndRequestsInFlightFinish(t *testing.T) {
	p := play(t, "serve").ready()
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
	refused(t, p.address)
	p.goOn() // call and request end only now
	if err := <-call; err != nil {
		t.Errorf("call in flight = %v, want OK", err)
	}
	if err := <-request; err != nil {
		t.Errorf("request in flight = %v, want 200", err)
	}
	p.exits(0)
	p.order("stopping", `"left"`, `"msg":"call"`, "node closed", "stopped")
	p.order("stopping", `"msg":"request"`, "node closed")
}

func TestEndlessStreamIsCutOffWithAWarningAndCode0(t *testing.T) {
	p := play(t, "serve", gracefulKey.String()+"=300ms").ready()
	for range 2 {
		p.opened("endless")
	}
	p.terminate()
	p.exits(0)
	warning := `"level":"warn","name":"GRPC","msg":"what has not finished is cut off","unary":0,"streams":2`
	p.once(warning)
	p.order("stopping", "what has not finished is cut off",
		`"stream":"server","status":"CANCELLED"`, "node closed", "stopped")
}

func TestStreamThatWatchesTheDrainEndsInOrder(t *testing.T) {
	p := play(t, "serve").ready()
	stream := p.opened("draining")
	p.terminate()
	answer, err := stream.Recv()
	if err != nil || answer.GetText() != "goodbye" {
		t.Errorf("stream = %v, %v; want a goodbye", answer, err)
	}
	p.exits(0)
	if strings.Contains(p.output(), "is cut off") {
		t.Errorf("output\n%s\nwant nothing cut off", p.output())
	}
}

func TestUnaryCallsThatOutlastTheStopExitWith1AndTheirNumber(t *testing.T) {
	p := play(t, "serve", gracefulKey.String()+"=300ms").ready()
	client := p.client()
	var calls []<-chan error
	for range 3 {
		calls = append(calls, callUnary(t.Context(), client, "patient"))
		p.line("entered")
	}
	p.terminate()
	p.exits(1)
	for _, call := range calls {
		if err := <-call; err == nil {
			t.Error("call = OK, want it cut off")
		}
	}
	p.once(`"msg":"what has not finished is cut off","unary":3,"streams":0`)
	p.once("3 unary calls were cut off: the time for the graceful stop has run out")
	p.order("stopping", `"left"`, `"status":"CANCELLED"`, "node closed", "stopped")
	if n := strings.Count(p.output(), `"msg":"call"`); n != 3 {
		t.Errorf("%d lines of calls, want 3:\n%s", n, p.output())
	}
}

func TestHandlerThatIgnoresItsContextDoesNotOutlastTheShutdownTimeout(t *testing.T) {
	p := play(t, "serve", gracefulKey.String()+"=300ms", "PLINTH_SHUTDOWN_TIMEOUT=2s").ready()
	callUnary(t.Context(), p.client(), "deaf")
	p.line("entered")
	p.terminate()
	p.exits(1) // the handler would go on for ever
	p.once("1 unary calls were cut off")
	p.once("1 handlers go on after the end of their context")
	p.order("stopping", "node closed", "stopped")
}

func TestTheShorterTimeBoundsTheStop(t *testing.T) {
	for _, tc := range []struct {
		name, graceful, shutdown string
		least                    time.Duration
	}{
		{name: "of the runner", graceful: "300ms", shutdown: "1m", least: 300 * time.Millisecond},
		{name: "of the application", graceful: "1h", shutdown: "2s", least: 700 * time.Millisecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := play(t, "serve",
				gracefulKey.String()+"="+tc.graceful,
				"PLINTH_SHUTDOWN_TIMEOUT="+tc.shutdown).ready()
			p.opened("endless")
			began := time.Now()
			p.terminate()
			p.exits(0) // long before the other time
			if took := time.Since(began); took < tc.least {
				t.Errorf("the stop took %s, want at least %s", took, tc.least)
			}
			p.once("what has not finished is cut off")
		})
	}
}

func TestConnectionThatNeverSaysAWordDoesNotHoldUpTheStop(t *testing.T) {
	for _, graceful := range []string{"200ms", "1h"} {
		t.Run(graceful, func(t *testing.T) {
			p := play(t, "serve", gracefulKey.String()+"="+graceful).ready()
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.address)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			p.opened("draining")
			p.terminate()
			p.exits(0)
		})
	}
}

func TestSignalDuringTheRegistrationGivesTheStartUp(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "localhost"} {
		t.Run(host, func(t *testing.T) {
			p := play(t, "slow registration", "PLINTH_HOST="+host)
			p.line("registering")
			p.terminate()
			p.exits(0)
			if out := p.output(); strings.Contains(out, `"msg":"ready"`) ||
				strings.Contains(out, `"level":"error"`) {
				t.Errorf("output\n%s\nwant neither readiness nor an error", out)
			}
			p.order("start aborted", "node closed", "stopped")
		})
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	p := play(t, "serve").ready()
	callUnary(t.Context(), p.client(), "deaf")
	p.line("entered")
	p.terminate()
	p.line("stopping")
	p.terminate()
	p.exits(143)
}

func TestPortInUseExitsWith1(t *testing.T) {
	address := listen(t).Addr().String()
	p := play(t, "serve", "GRPC_PORT="+address[strings.LastIndex(address, ":")+1:])
	p.exits(1)
	p.once("GRPC_PORT: cannot listen on " + address)
	p.order("GRPC_PORT", "address already in use")
	if strings.Contains(p.output(), `"msg":"ready"`) {
		t.Errorf("output\n%s\nwant no readiness", p.output())
	}
}

func TestWrongReflectionOrPortExitsWith1AndOneLineEach(t *testing.T) {
	p := play(t, "serve", "GRPC_PORT=abc", "GRPC_REFLECTION=TRUE")
	p.exits(1)
	p.once(`GRPC_PORT: \"abc\"`)
	p.once(`GRPC_REFLECTION: \"TRUE\"`)
}

func TestAnotherProcessSeesAProgramThroughReflection(t *testing.T) {
	p := play(t, "serve", "GRPC_REFLECTION=true").ready()
	c := newCurl(t, dial(t, p.address))
	answer, err := c.call(c.method(serviceName, "Unary"), "hello")
	if err != nil || !strings.Contains(answer.String(), "hello") {
		t.Errorf("answer = %v, %v; want hello", answer, err)
	}
	_ = c.stream.CloseSend()
	p.terminate()
	p.exits(0)
}
