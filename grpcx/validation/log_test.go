package validation_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
)

// errQuoting is an error that quotes the request.
var errQuoting = fmt.Errorf("password %q is too weak", "hunter2")

func TestMethods_UnknownError(t *testing.T) {
	t.Run("is sent to the client and not logged", func(t *testing.T) {
		short := plainError{"city", "too short"}
		for _, tc := range []struct {
			name string
			err  error
			want xerror.ErrMessage
		}{
			{"alone", errQuoting, "the request is not valid"},
			{"wrapped", fmt.Errorf("user: %w", errQuoting), "the request is not valid"},
			{
				"only error of a list",
				userErrors{errQuoting, errQuoting},
				"the request is not valid",
			},
			{"first of a list", userErrors{errQuoting, short}, "city: too short"},
			{"joined", errors.Join(errQuoting, short), "city: too short"},
			{
				"wrapped and joined",
				errors.Join(fmt.Errorf("user: %w", errQuoting), short),
				"city: too short",
			},
			{"last of a list", userErrors{short, errQuoting}, "city: too short"},
			{
				"next to nested fields",
				userErrors{userError{field: "home", cause: userErrors{errQuoting, short}}},
				"home.city: too short",
			},
			{
				"in a field",
				userError{
					field: "home", reason: nestedReason,
					cause: userErrors{errQuoting, userErrors{}},
				},
				"the request is not valid",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				e := wantError(t, &fakeRequest{err: tc.err}, xerror.ParameterError)
				if got := e.GetErrorMessage(); got != tc.want {
					t.Errorf("message = %q, want %q", got, tc.want)
				}
				if data := fmt.Sprint(e.GetData()); !strings.Contains(data, "hunter2") {
					t.Errorf("data = %s, want the text of the error", data)
				}
				if text := logged(t, e); strings.Contains(text, "hunter2") {
					t.Errorf("the log contains the value: %s", text)
				}
			})
		}
	})

	t.Run("is truncated", func(t *testing.T) {
		long := errors.New("a" + strings.Repeat("ä", 5000)) // byte 512 is inside a rune
		broken := errors.New(strings.Repeat("\x80", 5000))
		for name, tc := range map[string]struct {
			err  error
			want int
		}{
			"alone":     {long, 511},
			"in a list": {userErrors{long, plainError{"city", "too short"}}, 511},
			"not UTF-8": {broken, 3}, // one replacement character
		} {
			e := wantError(t, &fakeRequest{err: tc.err}, xerror.ParameterError)
			got := failures(t, e)[0].Message
			if len(got) != tc.want || !utf8.ValidString(got) {
				t.Errorf("%s: message = %d bytes, want %d of valid UTF-8", name, len(got), tc.want)
			}
		}
	})
}

func TestMethods_Summary(t *testing.T) {
	for _, err := range []error{
		plainError{"city", strings.Repeat("a", 5000)},
		plainError{strings.Repeat("c", 5000), "too short"},
	} {
		e := wantError(t, &fakeRequest{err: err}, xerror.ParameterError)
		if got := len(e.GetErrorMessage()); got != 512 {
			t.Errorf("message = %d bytes, want 512", got)
		}
	}
}

// logged returns the log line of the error, with the logger at level DEBUG.
func logged(t *testing.T, e *xerror.Error) string {
	t.Helper()
	var line bytes.Buffer
	log, err := xlog.New(xlog.Config{
		Writer: &line, Format: xlog.FormatJSON, Level: slog.LevelDebug,
	})
	if err != nil {
		t.Fatal(err)
	}
	log.WithName(xlog.NamedGRPC).Debug(t.Context(), string(e.GetErrorMessage()),
		slog.Any("error", e))
	if line.Len() == 0 {
		t.Fatal("the error was not logged")
	}
	return line.String()
}
