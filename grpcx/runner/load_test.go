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

// load counts what clients see that call one after the other.
type load struct {
	ok, refused atomic.Int64
	enough      chan struct{} // closed after some calls

	mu       sync.Mutex
	failures []string
}

func newLoad() *load { return &load{enough: make(chan struct{})} }

// call makes one call. The result says whether the client goes on.
func (l *load) call(ctx context.Context, client pb.TestServiceClient) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := client.Unary(ctx, &pb.TestRequest{Text: "work"})
	switch {
	case status.Code(err) == codes.Unavailable:
		l.refused.Add(1)
		l.fail(err.Error())
		return false
	case err != nil || answer.GetText() != "work":
		l.fail("not even UNAVAILABLE: " + status.Convert(err).Message())
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

func TestCallsUnderLoadAreAnsweredOrNeverBegan(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		t.Run(map[bool]string{false: "one connection", true: "new connections"}[fresh],
			func(t *testing.T) {
				p := play(t, "serve", "PLINTH_DRAIN_DELAY=300ms").ready()
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
				// What was refused never reached a handler: there are as many lines of calls
				// as answers.
				if lines := int64(strings.Count(p.output(), `"msg":"call"`)); lines != l.ok.Load() {
					t.Errorf("%d calls were handled and %d answered: %v",
						lines, l.ok.Load(), l.failures)
				}
				if l.refused.Load() != 8 {
					t.Errorf("%d clients ended with UNAVAILABLE, want 8", l.refused.Load())
				}
				t.Logf("%d calls answered", l.ok.Load())
			})
	}
}

// once makes one call, over the shared connection or over one of its own.
func (l *load) once(t *testing.T, address string, shared pb.TestServiceClient, fresh bool) bool {
	if !fresh {
		return l.call(t.Context(), shared)
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		l.fail("not even " + err.Error())
		return false
	}
	defer func() { _ = conn.Close() }()
	return l.call(t.Context(), pb.NewTestServiceClient(conn))
}

func TestRollingRestartLosesNoCall(t *testing.T) {
	first, second := play(t, "serve", "PLINTH_DRAIN_DELAY=200ms").ready(),
		play(t, "serve", "PLINTH_DRAIN_DELAY=200ms").ready()
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
	third := play(t, "serve").ready()
	servers.UpdateState(addresses(second, third))
	third.line("call") // it has its share
	before := l.ok.Load()
	second.terminate()
	second.exits(0)
	for end := time.Now().Add(patience); l.ok.Load() < before+200 && time.Now().Before(end); {
		third.line("call")
	}
	close(done)
	clients.Wait()
	if len(l.failures) > 0 {
		t.Errorf("%d of %d calls were lost, the first: %s",
			len(l.failures), l.ok.Load(), l.failures[0])
	}
	third.terminate()
	third.exits(0)
	var handled int64
	for _, p := range []*process{first, second, third} {
		n := int64(strings.Count(p.output(), `"msg":"call"`))
		if n == 0 {
			t.Error("a server had no call")
		}
		handled += n
	}
	if handled != l.ok.Load() {
		t.Errorf("%d calls were handled and %d answered", handled, l.ok.Load())
	}
	t.Logf("%d calls", l.ok.Load())
}
