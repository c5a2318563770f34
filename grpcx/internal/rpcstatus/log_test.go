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
			"unknown": errors.New(secret),
			"file":    &fs.PathError{Op: "open", Path: secret, Err: errors.New("x")},
			"cause":   xerror.Wrap(xerror.NotExist, "public", errors.New(secret)),
		} {
			t.Run(name, func(t *testing.T) {
				lines := capture(t)
				got := rpcstatus.ToStatus(t.Context(), err)
				wire, _ := proto.Marshal(status.Convert(got).Proto())
				if bytes.Contains(wire, []byte("SELECT")) ||
					strings.Contains(got.Error(), "SELECT") {
					t.Errorf("status = %q, want one without the text", wire)
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
			"wrapped":       fmt.Errorf("around: %w", sent),
			"joined":        errors.Join(errors.New("x"), sent),
			"exposed by As": asError{sent},
		} {
			got := rpcstatus.ToStatus(t.Context(), err)
			if got != sent { //nolint:errorlint // the same error
				t.Errorf("%s: ToStatus = %v, want the same error", name, got)
			}
		}
		if got := lines.String(); got != before || strings.Count(before, "\n") != 1 {
			t.Errorf("log = %q, want one line", got)
		}
		outer := rpcstatus.ToStatus(t.Context(), xerror.Wrap(xerror.NotFound, "", sent))
		if status.Code(outer) != codes.NotFound || !errors.Is(outer, xerror.DatabaseError) {
			t.Errorf("ToStatus = %v, want the code of the outer error", outer)
		}
	})

	t.Run("truncates long errors", func(t *testing.T) {
		lines := capture(t)
		_ = rpcstatus.ToStatus(t.Context(), errors.New(strings.Repeat("é", 1<<20)))
		if got := lines.Len(); got < 1024 || got > 8192 {
			t.Errorf("log line = %d bytes, want 1024 to 8192", got)
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
		{"server error", xerror.New(xerror.DatabaseError, ""), true},
		{
			"wrapped after the conversion",
			fmt.Errorf("around: %w", rpcstatus.ToStatus(t.Context(), errors.New("secret"))), true,
		},
		{"rejected", xerror.New(xerror.NotFound, ""), false},
		{"a plain status", status.Error(codes.Unavailable, "secret"), false},
		{"none", nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lines := capture(t)
			got := rpcstatus.LoggedAtError(rpcstatus.ToStatus(t.Context(), tc.err))
			if got != tc.want {
				t.Errorf("LoggedAtError = %t, want %t", got, tc.want)
			}
			if tc.name != "wrapped after the conversion" &&
				strings.Contains(lines.String(), `"level":"error"`) != tc.want {
				t.Errorf("log = %s, want a line at level error: %t", lines, tc.want)
			}
		})
	}
}
