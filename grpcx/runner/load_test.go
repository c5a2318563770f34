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

// load counts the results of clients that make one call after the other.
type load struct {
	ok, refused atomic.Int64
	enough      chan struct{} // closed after some calls

	mu       sync.Mutex
	failures []string
}

func newLoad() *load { return &load{enough: make(chan struct{})} }

// call makes one call and reports whether the client continues.
func (l *load) call(ctx context.Context, client pb.TestServiceClient) bool {
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	answer, err := client.Unary(ctx, &pb.TestRequest{Text: "work"})
	switch {
	case status.Code(err) == codes.Unavailable:
		l.refused.Add(1)
		l.fail(err.Error())
		return false
	case err != nil || answer.GetText() != "work":
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
	for _, fresh := range []bool{false, true} {
		t.Run(map[bool]string{false: "one connection", true: "new connections"}[fresh],
			func(t *testing.T) {
				p := startProgram(t, "serve", "PLINTH_DRAIN_DELAY=300ms").ready()
				l := newLoad()
				shared := p.client()
				var clients sync.WaitGroup
				for range 8 {
					clients.Go(func() {
						for again := true; again; {
							again = l.once(t, p.address, shared, fresh)
						}
					})
				}
				wait(t, l.enough, "calls")
				p.terminate()
				clients.Wait()
				p.exits(0)
				for _, failure := range l.failures {
					if strings.HasPrefix(failure, "not even") {
						t.Error(failure)
					}
				}
				// Rejected calls never reached a handler: the number of log lines equals
				// the number of responses.
				if lines := int64(strings.Count(p.output(), `"msg":"call"`)); lines != l.ok.Load() {
					t.Errorf("%d calls handled, %d responses received: %v",
						lines, l.ok.Load(), l.failures)
				}
				if l.refused.Load() != 8 {
					t.Errorf("%d clients stopped with UNAVAILABLE, want 8", l.refused.Load())
				}
				t.Logf("%d responses received", l.ok.Load())
			})
	}
}

// once makes one call over the shared connection or over its own.
func (l *load) once(t *testing.T, address string, shared pb.TestServiceClient, fresh bool) bool {
	if !fresh {
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
	first, second := startProgram(t, "serve", "PLINTH_DRAIN_DELAY=200ms").ready(),
		startProgram(t, "serve", "PLINTH_DRAIN_DELAY=200ms").ready()
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
	first.exits(0)
	third := startProgram(t, "serve").ready()
	servers.UpdateState(addresses(second, third))
	third.line("call") // it receives its share
	before := l.ok.Load()
	second.terminate()
	second.exits(0)
	for end := time.Now().Add(testTimeout); l.ok.Load() < before+200 && time.Now().Before(end); {
		third.line("call")
	}
	close(done)
	clients.Wait()
	if len(l.failures) > 0 {
		t.Errorf("%d of %d calls failed, the first: %s",
			len(l.failures), l.ok.Load(), l.failures[0])
	}
	third.terminate()
	third.exits(0)
	var handled int64
	for _, p := range []*process{first, second, third} {
		n := int64(strings.Count(p.output(), `"msg":"call"`))
		if n == 0 {
			t.Error("a server received no call")
		}
		handled += n
	}
	if handled != l.ok.Load() {
		t.Errorf("%d calls handled, %d responses received", handled, l.ok.Load())
	}
	t.Logf("%d calls", l.ok.Load())
}
