package runner_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"weak"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/runner"
)

const excessWarning = "calls canceled: too many bytes of incomplete messages"

// echo responds to each message of a stream with its length.
func echo(stream grpc.BidiStreamingServer[pb.TestRequest, pb.TestResponse]) error {
	for {
		request, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		size := strconv.Itoa(len(request.GetText()))
		if err := stream.Send(&pb.TestResponse{Text: size}); err != nil {
			return err
		}
	}
}

// openEcho opens a stream that echo serves.
func openEcho(
	t *testing.T, conn *grpc.ClientConn,
) grpc.BidiStreamingClient[pb.TestRequest, pb.TestResponse] {
	t.Helper()
	stream, err := pb.NewTestServiceClient(conn).BidiStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sendAndReceive(t, stream, 1)
	return stream
}

// sendAndReceive sends a message and receives the response.
func sendAndReceive(
	t *testing.T, stream grpc.BidiStreamingClient[pb.TestRequest, pb.TestResponse], size int,
) {
	t.Helper()
	if err := stream.Send(&pb.TestRequest{Text: strings.Repeat("x", size)}); err != nil {
		t.Fatal(err)
	}
	if response, err := stream.Recv(); err != nil || response.GetText() != strconv.Itoa(size) {
		t.Fatalf("message of %d bytes = %v, %v; want its length", size, response, err)
	}
}

// repeatUntil repeats step until the log contains text.
func repeatUntil(t *testing.T, log *calltest.Log, text string, step func()) {
	t.Helper()
	for end := time.Now().Add(testTimeout); !strings.Contains(log.String(), text); step() {
		if time.Now().After(end) {
			t.Fatalf("no line %q in\n%s", text, log)
		}
	}
}

func TestWithMaxInflightBytes_RequestStreams(t *testing.T) {
	for _, tc := range []struct {
		name   string
		secure bool
	}{{name: "plain"}, {name: "encrypted", secure: true}} {
		t.Run(tc.name, func(t *testing.T) {
			log := calltest.Record(t)
			options := []runner.Option{runner.WithMaxInflightBytes(8 << 20)}
			connect := func(address string) (net.Conn, error) {
				return new(net.Dialer).DialContext(t.Context(), "tcp", address)
			}
			var dialOptions []grpc.DialOption
			if tc.secure {
				var creds credentials.TransportCredentials
				creds, connect, dialOptions = secure(t)
				options = append(options, runner.WithCredentials(creds))
			}
			s := serve(t, options...)
			s.service.OnBidi = echo
			conn := dial(t, s.address, dialOptions...)
			idle := openEcho(t, conn)
			attacking, err := connect(s.address)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			wait, err := attackOver(ctx, attacking, testMethod("ClientStream"), 20)
			if err != nil {
				t.Fatal(err)
			}
			defer wait()
			defer cancel()
			busy := openEcho(t, conn)
			repeatUntil(t, log, excessWarning, func() { sendAndReceive(t, busy, 1<<20) })
			sendAndReceive(t, idle, 1<<20)
		})
	}
}

// secure returns credentials of a server, and a function and options to connect to it.
func secure(t *testing.T) (
	creds credentials.TransportCredentials, connect func(address string) (net.Conn, error),
	options []grpc.DialOption,
) {
	t.Helper()
	web := httptest.NewTLSServer(http.NotFoundHandler()) // provides a certificate
	defer web.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(web.Certificate())
	client := &tls.Config{
		RootCAs: trusted, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS13,
	}
	server := &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS13}
	return credentials.NewTLS(server),
		func(address string) (net.Conn, error) {
			return (&tls.Dialer{Config: client}).DialContext(t.Context(), "tcp", address)
		},
		[]grpc.DialOption{grpc.WithTransportCredentials(credentials.NewTLS(client))}
}

func TestWithServerOptions_Creds(t *testing.T) {
	log := calltest.Record(t)
	creds, connect, dialOptions := secure(t)
	s := serve(t, runner.WithMaxInflightBytes(6<<20), runner.WithFirstMessageTimeout(0),
		runner.WithServerOptions(grpc.Creds(creds)))
	conn := dial(t, s.address, dialOptions...)
	client := pb.NewTestServiceClient(conn)
	for range 20 { // messages are not charged after they have arrived
		_, err := client.Unary(t.Context(), &pb.TestRequest{Text: strings.Repeat("x", 1<<20)})
		if err != nil {
			t.Fatalf("call = %v, want OK", err)
		}
	}
	s.service.OnBidi = echo
	sendAndReceive(t, openEcho(t, conn), 1<<20)
	log.Only("incomplete messages are limited approximately: " +
		"use runner.WithCredentials instead of grpc.Creds")

	attacking, err := connect(s.address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	wait, err := attackOver(ctx, attacking, testMethod("Unary"), 10)
	if err != nil {
		t.Fatal(err)
	}
	defer wait()
	defer cancel()
	repeatUntil(t, log, excessWarning, func() { call(t, client, "more") })
}

func TestWithMaxInflightBytes_CompleteMessages(t *testing.T) {
	log := calltest.Record(t)
	s := serve(t, runner.WithMaxInflightBytes(4<<20))
	s.service.OnBidi = echo
	conn := dial(t, s.address)
	var idle []grpc.BidiStreamingClient[pb.TestRequest, pb.TestResponse]
	for range 20 {
		idle = append(idle, openEcho(t, conn))
	}
	for range 50 {
		call(t, pb.NewTestServiceClient(conn), strings.Repeat("x", 1<<20))
		sendAndReceive(t, idle[0], 1<<20)
	}
	for _, stream := range idle {
		sendAndReceive(t, stream, 3<<20)
	}
	if strings.Contains(log.String(), excessWarning) {
		t.Errorf("log:\n%s\nwant no canceled call", log)
	}
}

// The limiter must release the messages of rejected calls.
func TestWithMaxInflightBytes_RejectedCalls(t *testing.T) {
	log := calltest.Record(t)
	reject := func(any, grpc.ServerStream, *grpc.StreamServerInfo, grpc.StreamHandler) error {
		return status.Error(codes.Unauthenticated, "rejected")
	}
	s := serve(t, runner.WithMaxInflightBytes(4<<20), runner.WithMaxStreams(10),
		runner.WithStreamInterceptors(reject))
	ctx, cancel := context.WithCancel(t.Context())
	// Each call sends up to its flow control window.
	wait, err := attack(ctx, s.address, testMethod("ClientStream"), 500)
	if err != nil {
		t.Fatal(err)
	}
	defer wait()
	defer cancel()
	client := pb.NewTestServiceClient(dial(t, s.address))
	for end := time.Now().Add(testTimeout); strings.Count(log.String(), "UNAUTHENTICATED") < 500; {
		_, err := client.Unary(t.Context(), &pb.TestRequest{Text: strings.Repeat("x", 1<<20)})
		if err != nil {
			t.Fatalf("call of another connection = %v, want OK", err)
		}
		if time.Now().After(end) {
			t.Fatalf("not all calls were rejected:\n%s", log)
		}
	}
	if strings.Contains(log.String(), excessWarning) {
		t.Errorf("log:\n%s\nwant no warning: 10 calls send up to 256 KB each", log)
	}
}

// The server must not retain completed calls. The header table of a connection retains
// the header fields of about 50 calls until the connection closes.
func TestServe_CompletedCalls(t *testing.T) {
	type key struct{}
	var values []weak.Pointer[[1 << 10]byte]
	addValue := func(
		ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
	) (any, error) {
		value := new([1 << 10]byte)
		values = append(values, weak.Make(value))
		return handler(context.WithValue(ctx, key{}, value), req)
	}
	s := serveWith(t, grpc.UnaryInterceptor(addValue))
	client := pb.NewTestServiceClient(dial(t, s.address))
	for range 10 {
		call(t, client, "hello")
	}
	retained := func() (n int) {
		for _, w := range values {
			if w.Value() != nil {
				n++
			}
		}
		return n
	}
	for end := time.Now().Add(testTimeout); retained() > 0; runtime.GC() {
		if time.Now().After(end) {
			t.Fatalf("%d of %d completed calls are retained, want 0", retained(), len(values))
		}
	}
}
