// Package calltest runs a test service on a real listener and records its log, for tests
// of interceptors.
package calltest

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/plinthgo/plinth/core/common/xlog"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
)

// Service is a TestService with configurable handlers. A nil handler echoes.
type Service struct {
	pb.UnimplementedTestServiceServer

	OnUnary  func(ctx context.Context, request *pb.TestRequest) (*pb.TestResponse, error)
	OnServer func(request *pb.TestRequest, stream grpc.ServerStreamingServer[pb.TestResponse]) error
	OnClient func(stream grpc.ClientStreamingServer[pb.TestRequest, pb.TestResponse]) error
	OnBidi   func(stream grpc.BidiStreamingServer[pb.TestRequest, pb.TestResponse]) error
}

// Unary implements pb.TestServiceServer.
func (s *Service) Unary(ctx context.Context, request *pb.TestRequest) (*pb.TestResponse, error) {
	if s.OnUnary != nil {
		return s.OnUnary(ctx, request)
	}
	return &pb.TestResponse{Text: request.GetText()}, nil
}

// ServerStream implements pb.TestServiceServer.
func (s *Service) ServerStream(
	request *pb.TestRequest, stream grpc.ServerStreamingServer[pb.TestResponse],
) error {
	if s.OnServer != nil {
		return s.OnServer(request, stream)
	}
	return stream.Send(&pb.TestResponse{Text: request.GetText()})
}

// ClientStream implements pb.TestServiceServer.
func (s *Service) ClientStream(
	stream grpc.ClientStreamingServer[pb.TestRequest, pb.TestResponse],
) error {
	if s.OnClient != nil {
		return s.OnClient(stream)
	}
	request, err := stream.Recv()
	if err != nil {
		return err
	}
	return stream.SendAndClose(&pb.TestResponse{Text: request.GetText()})
}

// BidiStream implements pb.TestServiceServer.
func (s *Service) BidiStream(
	stream grpc.BidiStreamingServer[pb.TestRequest, pb.TestResponse],
) error {
	if s.OnBidi != nil {
		return s.OnBidi(stream)
	}
	request, err := stream.Recv()
	if err != nil {
		return err
	}
	return stream.Send(&pb.TestResponse{Text: request.GetText()})
}

// Serve starts a server for the service on a loopback listener and returns a client
// connection. Both are closed when the test finishes.
func Serve(
	tb testing.TB, service pb.TestServiceServer, options ...grpc.ServerOption,
) *grpc.ClientConn {
	tb.Helper()
	server := grpc.NewServer(options...)
	pb.RegisterTestServiceServer(server, service)
	return Start(tb, server)
}

// Start is like Serve for a server with registered services.
func Start(tb testing.TB, server *grpc.Server) *grpc.ClientConn {
	tb.Helper()
	listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := conn.Close(); err != nil {
			tb.Error(err)
		}
		server.Stop()
		if err := <-served; err != nil {
			tb.Error(err)
		}
	})
	return conn
}

// Log records log output.
type Log struct {
	tb      testing.TB
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{} // receives a value after each write
}

// Record sets the default logger to a Log at level DEBUG until the test finishes. The
// test must not run in parallel.
func Record(tb testing.TB) *Log {
	tb.Helper()
	l, engine := NewLog(tb)
	tb.Cleanup(xlog.SetDefault(engine))
	return l
}

// NewLog returns a Log and an engine that writes to it.
func NewLog(tb testing.TB) (*Log, *xlog.Engine) {
	tb.Helper()
	l := &Log{tb: tb, written: make(chan struct{}, 1)}
	engine, err := xlog.New(xlog.Config{Writer: l, Format: xlog.FormatJSON, Level: -4})
	if err != nil {
		tb.Fatal(err)
	}
	return l, engine
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.written <- struct{}{}:
	default:
	}
	return l.text.Write(p)
}

// String returns the output.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Lines returns the decoded lines with this message.
func (l *Log) Lines(message string) []map[string]any {
	l.tb.Helper()
	var lines []map[string]any
	for row := range strings.Lines(l.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(row), &line); err != nil {
			l.tb.Fatalf("cannot decode log line %q: %v", row, err)
		}
		if line["msg"] == message {
			lines = append(lines, line)
		}
	}
	return lines
}

// Only returns the line with this message. The test fails if there is not exactly one.
func (l *Log) Only(message string) map[string]any {
	l.tb.Helper()
	lines := l.Lines(message)
	if len(lines) != 1 {
		l.tb.Fatalf("%d lines %q, want 1:\n%s", len(lines), message, l)
	}
	return lines[0]
}

// maxWait limits Await.
const maxWait = 10 * time.Second

// Await waits for a line with this message. The server may write it after the client
// received the response.
func (l *Log) Await(message string) map[string]any {
	l.tb.Helper()
	mark := `"msg":"` + message + `"`
	for timeout := time.After(maxWait); !strings.Contains(l.String(), mark); {
		select {
		case <-l.written:
		case <-timeout:
			return l.Only(message)
		}
	}
	return l.Only(message)
}
