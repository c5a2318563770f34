package rpcstatus_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
)

func TestToStatus_Log(t *testing.T) {
	t.Run("logs the cause and hides it from the client", func(t *testing.T) {
		const secret = "SELECT password FROM users"
		for name, err := range map[string]error{
			"bare":      errors.New(secret),
			"of a file": &fs.PathError{Op: "open", Path: secret, Err: errors.New("x")},
			"cause":     xerror.Wrap(xerror.NotExist, "public", errors.New(secret)),
		} {
			t.Run(name, func(t *testing.T) {
				lines := capture(t)
				got := rpcstatus.ToStatus(t.Context(), err)
				wire, _ := proto.Marshal(status.Convert(got).Proto())
				if bytes.Contains(wire, []byte("SELECT")) ||
					strings.Contains(got.Error(), "SELECT") {
					t.Errorf("status = %q, which contains the text", wire)
				}
				if !errors.Is(got, err) {
					t.Errorf("errors.Is does not find the error in %v", got)
				}
				if n := strings.Count(lines.String(), "\n"); n != 1 ||
					!strings.Contains(lines.String(), secret) {
					t.Errorf("log = %q, want one line with the text", lines)
				}
			})
		}
	})

	t.Run("skips errors that are logged already", func(t *testing.T) {
		lines := capture(t)
		e := xerror.NewInternalServerError(t.Context(), "", errors.New("cause"))
		before := lines.String()
		_ = rpcstatus.ToStatus(t.Context(), fmt.Errorf("around: %w", e))
		if got := lines.String(); got != before || before == "" {
			t.Errorf("log = %q, want only %q", got, before)
		}
	})

	t.Run("logs a wrapped error once", func(t *testing.T) {
		lines := capture(t)
		sent := rpcstatus.ToStatus(t.Context(),
			xerror.Wrap(xerror.DatabaseError, "", errors.New("cause")))
		before := lines.String()
		for name, err := range map[string]error{
			"wrapped": fmt.Errorf("around: %w", sent), "joined": errors.Join(errors.New("x"), sent),
			"exposed by As": asError{sent},
		} {
			if got := rpcstatus.ToStatus(t.Context(), err); got != sent { //nolint:errorlint // the same error
				t.Errorf("%s: ToStatus = %v, want the same error", name, got)
			}
		}
		if got := lines.String(); got != before || strings.Count(before, "\n") != 1 {
			t.Errorf("log = %q, want one line", got)
		}
		recoded := rpcstatus.ToStatus(t.Context(), xerror.Wrap(xerror.NotFound, "", sent))
		if status.Code(recoded) != codes.NotFound || !errors.Is(recoded, xerror.DatabaseError) {
			t.Errorf("ToStatus = %v, want the outer code", recoded)
		}
	})

	t.Run("truncates long errors", func(t *testing.T) {
		lines := capture(t)
		_ = rpcstatus.ToStatus(t.Context(), errors.New(strings.Repeat("é", 1<<20)))
		if got := lines.Len(); got < 1024 || got > 8192 {
			t.Errorf("the line has %d bytes", got)
		}
	})
}

func TestLoggedAtError(t *testing.T) {
	quiet(t)
	for _, tc := range []struct {
		name string
		err  error
		want bool
	}{
		{"unknown", errors.New("secret"), true},
		{"of the service", xerror.New(xerror.DatabaseError, ""), true},
		{"wrapped again", fmt.Errorf("in between: %w",
			rpcstatus.ToStatus(t.Context(), errors.New("secret"))), true},
		{"rejected", xerror.New(xerror.NotFound, ""), false},
		{"a plain status", status.Error(codes.Unavailable, "secret"), false},
		{"none", nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lines := capture(t)
			if got := rpcstatus.LoggedAtError(rpcstatus.ToStatus(t.Context(),
				tc.err)); got != tc.want {
				t.Errorf("LoggedAtError = %t, want %t", got, tc.want)
			}
			if tc.name != "wrapped again" &&
				strings.Contains(lines.String(), `"level":"error"`) != tc.want {
				t.Errorf("log = %s", lines)
			}
		})
	}
}
