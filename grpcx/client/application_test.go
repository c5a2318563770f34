package client_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/grpcx/client"
	"github.com/plinthgo/plinth/grpcx/internal/testproto"
)

// identities returns the credentials that a server receives, as "id secret". pairs are
// outgoing metadata of the call.
func identities(
	t *testing.T, creds grpc.ServerOption, pairs []string, options ...client.Option,
) string {
	t.Helper()
	calls := make(chan metadata.MD, 1)
	address, _ := serve(t, &service{
		unary: func(ctx context.Context, _ *request) (*response, error) {
			calls <- newReceived(ctx).metadata
			return &response{}, nil
		},
	}, loopback, creds)
	conn, err := client.Dial(address, options...)
	must(t, err)
	ctx := metadata.AppendToOutgoingContext(t.Context(), pairs...)
	_, err = testproto.NewTestServiceClient(conn).Unary(ctx, &request{})
	must(t, errors.Join(err, conn.Close()))
	md := <-calls
	return strings.Join(append(md.Get("app_access_id"), md.Get("app_secret_key")...), " ")
}

func TestWithApplication(t *testing.T) {
	t.Run("sends credentials over TLS only", func(t *testing.T) {
		creds, roots := certificate(t)
		identity := client.WithApplication("id-7", "hunter2")
		trusted := client.WithTLS(&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13})
		if got := identities(t, grpc.Creds(creds), nil, identity, trusted); got != "id-7 hunter2" {
			t.Errorf("with TLS: credentials = %q", got)
		}
		pairs := []string{"app_access_id", "id-8", "app_secret_key", "other"}
		if got := identities(t, grpc.Creds(creds), pairs, identity, trusted); got != "id-8 other" {
			t.Errorf("with both keys set by the caller: credentials = %q", got)
		}
		pairs = []string{"app-access-id", "id-8"}
		if got := identities(t, grpc.Creds(creds), pairs, identity, trusted); got != "" {
			t.Errorf("with a dashed key set by the caller: credentials = %q", got)
		}
		got := identities(t, grpc.EmptyServerOption{}, nil,
			identity, client.WithPlaintext(), client.WithPlaintextSecrets())
		if got != "id-7 hunter2" {
			t.Errorf("with WithPlaintextSecrets: credentials = %q", got)
		}
		for name, option := range map[string]client.Option{
			"WithPlaintext": client.WithPlaintext(),
			"WithDialOptions": client.WithDialOptions(
				grpc.WithTransportCredentials(insecure.NewCredentials())),
		} {
			conn, err := client.Dial("users:1119", identity, option)
			if err == nil || conn != nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: Dial = %v, want an error", name, err)
			}
		}
	})

	t.Run("hides the secret", func(t *testing.T) {
		var lines bytes.Buffer
		log, err := xlog.New(xlog.Config{
			Writer: &lines, Format: xlog.FormatJSON, Level: slog.LevelDebug,
		})
		must(t, err)
		defer xlog.SetDefault(log)()
		address, _ := serve(t, &service{unary: func(context.Context, *request) (*response, error) {
			return nil, xerror.New(xerror.Unauthorized, "unknown application")
		}}, loopback)
		options := []client.Option{
			client.WithApplication("id-7", "hunter2"),
			client.WithPlaintext(),
			client.WithPlaintextSecrets(),
		}
		dialOptions, err := client.DialOptions(options...)
		must(t, err)
		conn, err := grpc.NewClient(address, dialOptions...)
		must(t, err)
		idle := fmt.Sprintf("%v %+v %#v", conn, conn, conn) // before the call changes conn
		_, callErr := testproto.NewTestServiceClient(conn).Unary(t.Context(), &request{})
		must(t, conn.Close())
		_, plaintextErr := client.Dial(address, options[0], options[1])
		_, invalidErr := client.Dial(address, client.WithApplication("id-7", "hunter2\x00"))
		creds := client.Credentials("id-7", "hunter2")
		encoded, err := json.Marshal(creds)
		must(t, err)
		log.WithName("TEST").Info(t.Context(), "call failed",
			slog.Any("credentials", creds), slog.Any("error", callErr))
		texts := []string{idle, string(encoded), lines.String()}
		for _, v := range []any{
			options[0], options, dialOptions, callErr, plaintextErr, invalidErr, creds,
			[]any{creds},
			struct{ C any }{creds},
			client.FromError(callErr),
		} {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
				texts = append(texts, fmt.Sprintf(verb, v))
			}
		}
		for _, text := range texts {
			if strings.Contains(text, "hunter2") ||
				strings.Contains(text, fmt.Sprintf("%x", "hunter2")) {
				t.Errorf("%.500s\ncontains the secret", text)
			}
		}
		if !errors.Is(callErr, xerror.Unauthorized) || plaintextErr == nil || invalidErr == nil {
			t.Errorf("errors = %v, %v, %v; want Unauthorized and two errors",
				callErr, plaintextErr, invalidErr)
		}
	})
}
