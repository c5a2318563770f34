//go:build unix

package runner_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/status"

	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
)

// load counts the results of clients. Each client makes one call after the other.
type load struct {
	ok, unavailable atomic.Int64
	enough          chan struct{} // closed after 200 calls

	mu       sync.Mutex
	failures []string
}

func newLoad() *load { return &load{enough: make(chan struct{})} }

// call makes one call and reports whether the client continues.
func (l *load) call(ctx context.Context, client pb.TestServiceClient) bool {
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	response, err := client.Unary(ctx, &pb.TestRequest{Text: "work"})
	switch {
	case status.Code(err) == codes.Unavailable:
		l.unavailable.Add(1)
		l.fail(err.Error())
		return false
	case err != nil || response.GetText() != "work":
		l.fail("want UNAVAILABLE: " + status.Convert(err).Message())
		return false
	}
	if l.ok.Add(1) == 200 {
		close(l.enough)
	}
	return true
}

func (l *load) fail(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = append(l.failures, text)
}

func TestServe_ShutdownUnderLoad(t *testing.T) {
	for _, newConnections := range []bool{false, true} {
		t.Run(map[bool]string{false: "one connection", true: "new connections"}[newConnections],
			func(t *testing.T) {
				p := startProgram(t, "serve", "PLINTH_DRAIN_DELAY=300ms").ready()
				l := newLoad()
				shared := p.client()
				var clients sync.WaitGroup
				for range 8 {
					clients.Go(func() {
						for proceed := true; proceed; {
							proceed = l.callOnce(t, p.address, shared, newConnections)
						}
					})
				}
				wait(t, l.enough, "calls")
				p.terminate()
				clients.Wait()
				p.wantExit(0)
				for _, failure := range l.failures {
					if strings.HasPrefix(failure, "want UNAVAILABLE: ") {
						t.Error(failure)
					}
				}
				// Rejected calls never reached a handler: the number of log lines equals
				// the number of responses.
				if lines := int64(strings.Count(p.output(), `"msg":"call"`)); lines != l.ok.Load() {
					t.Errorf("calls handled = %d, responses received = %d: %v",
						lines, l.ok.Load(), l.failures)
				}
				if l.unavailable.Load() != 8 {
					t.Errorf("clients stopped with UNAVAILABLE = %d, want 8", l.unavailable.Load())
				}
				t.Logf("%d responses received", l.ok.Load())
			})
	}
}

// callOnce makes one call over the shared connection or over a new one.
func (l *load) callOnce(
	t *testing.T, address string, shared pb.TestServiceClient, newConnections bool,
) bool {
	if !newConnections {
		return l.call(t.Context(), shared)
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		l.fail("want UNAVAILABLE: " + err.Error())
		return false
	}
	defer func() { _ = conn.Close() }()
	return l.call(t.Context(), pb.NewTestServiceClient(conn))
}

func TestServe_RollingRestart(t *testing.T) {
	first := startProgram(t, "serve", "PLINTH_DRAIN_DELAY=200ms").ready()
	second := startProgram(t, "serve", "PLINTH_DRAIN_DELAY=200ms").ready()
	servers := manual.NewBuilderWithScheme("rolling")
	addresses := func(list ...*process) resolver.State {
		var s resolver.State
		for _, p := range list {
			s.Endpoints = append(s.Endpoints,
				resolver.Endpoint{Addresses: []resolver.Address{{Addr: p.address}}})
		}
		return s
	}
	servers.InitialState(addresses(first, second))
	conn := dial(t, "rolling:///test", grpc.WithResolvers(servers),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig":[{"round_robin":{}}]}`))
	client := pb.NewTestServiceClient(conn)

	l := newLoad()
	done := make(chan struct{})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for l.call(t.Context(), client) {
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	wait(t, l.enough, "calls")
	first.terminate()
	first.wantExit(0)
	third := startProgram(t, "serve").ready()
	servers.UpdateState(addresses(second, third))
	third.line("call") // receives calls
	before := l.ok.Load()
	second.terminate()
	second.wantExit(0)
	for end := time.Now().Add(testTimeout); l.ok.Load() < before+200 && time.Now().Before(end); {
		third.line("call")
	}
	close(done)
	clients.Wait()
	if len(l.failures) > 0 {
		t.Errorf("%d calls failed, %d succeeded; first failure: %s",
			len(l.failures), l.ok.Load(), l.failures[0])
	}
	third.terminate()
	third.wantExit(0)
	var handled int64
	for _, p := range []*process{first, second, third} {
		n := int64(strings.Count(p.output(), `"msg":"call"`))
		if n == 0 {
			t.Error("a server received no call")
		}
		handled += n
	}
	if handled != l.ok.Load() {
		t.Errorf("calls handled = %d, responses received = %d", handled, l.ok.Load())
	}
	t.Logf("%d calls", l.ok.Load())
}
