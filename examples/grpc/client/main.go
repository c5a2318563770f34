// Command client calls the user service: it registers a user, gets the user, registers it
// again to get an error, and watches for changes.
//
// APP_ACCESS_ID and APP_SECRET_KEY are the credentials of the application. The secret is
// not a flag, because all users of a host can read the arguments of its processes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xutil"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/examples/grpc/userv1"
	"github.com/plinthgo/plinth/grpcx/client"
	"github.com/plinthgo/plinth/grpcx/constant"
)

const (
	accessID  xenv.EnvKey = "APP_ACCESS_ID"
	secretKey xenv.EnvKey = "APP_SECRET_KEY" //nolint:gosec // the name of a variable, no secret
)

func main() {
	address := flag.String("address", "localhost:1119", "host and port of the service")
	name := flag.String("user", "guest-"+xutil.Generate().Digits(8), "name of the user to register")
	encrypted := flag.Bool("tls", false,
		"connect with TLS, which the sample service does not support")
	duration := flag.Duration("watch", time.Second, "how long to watch")
	flag.Parse()
	if err := run(context.Background(), *address, *name, *encrypted, *duration); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, address, name string, encrypted bool, duration time.Duration) error {
	options := []client.Option{
		client.WithApplication(xenv.GetEnvString(accessID, ""), xenv.GetEnvString(secretKey, "")),
		client.WithSource("sample-client"),
	}
	if !encrypted {
		options = append(options, client.WithPlaintext(), client.WithPlaintextSecrets())
	}
	conn, err := client.Dial(address, options...)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return callAll(ctx, userv1.NewUserServiceClient(conn), os.Stdout, name, duration)
}

// callAll makes the calls and prints the results.
func callAll(
	ctx context.Context, users userv1.UserServiceClient, out io.Writer, name string,
	duration time.Duration,
) error {
	watchCtx, stop := context.WithCancel(ctx)
	defer stop()
	changes, err := users.Watch(watchCtx, &userv1.WatchRequest{})
	if err != nil {
		return err
	}
	if _, err := changes.Header(); err != nil { // waits until the service watches
		return err
	}

	request := &userv1.RegisterRequest{
		Username: name, Email: name + "@example.org",
		Password: xutil.Generate().Alphanumeric(16),
	}
	made, err := users.Register(ctx, request)
	if err != nil {
		return err
	}
	printf(out, "registered  %d %s (request %s)\n", made.GetUser().GetId(),
		made.GetUser().GetUsername(), made.GetBaseResponse().GetContext())

	found, err := users.Get(ctx, &userv1.GetRequest{Id: made.GetUser().GetId()})
	if err != nil {
		return err
	}
	printf(out, "found       %s, %s\n", found.GetUser().GetEmail(),
		found.GetUser().GetCreatedAt().AsTime().Format(time.RFC3339))

	var trailer metadata.MD
	if _, err := users.Register(ctx, request, grpc.Trailer(&trailer)); err != nil {
		id := strings.Join(trailer.Get(constant.TrailerRequestUUID.String()), "")
		printf(out, "refused     %s (request %s)\n", describe(err), id)
	}

	time.AfterFunc(duration, stop)
	return watch(changes, out)
}

// describe formats the *xerror.Error of a failed call.
func describe(err error) string {
	var e *xerror.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	code := e.GetErrorCode()
	return fmt.Sprintf("%d %s: %s, %s over gRPC",
		code.GetCode(), code.GetOutput(), e.GetErrorMessage(), status.Code(err))
}

// watch prints changes until the context is canceled.
func watch(changes grpc.ServerStreamingClient[userv1.WatchResponse], out io.Writer) error {
	for {
		change, err := changes.Recv()
		if errors.Is(err, context.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		printf(out, "watched     %s\n", change.GetUser().GetUsername())
	}
}

func printf(out io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
