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
		for _, tt := range []struct {
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
				errors.Join(fmt.Errorf("user: %w", errQuoting), short), "city: too short",
			},
			{"last of a list", userErrors{short, errQuoting}, "city: too short"},
			{
				"next to nested fields",
				userErrors{userError{field: "home", cause: userErrors{errQuoting, short}}},
				"home.city: too short",
			},
			{"in a field", userError{
				field: "home", reason: inside,
				cause: userErrors{errQuoting, userErrors{}},
			}, "the request is not valid"},
		} {
			t.Run(tt.name, func(t *testing.T) {
				e := rejected(t, &fakeRequest{err: tt.err}, xerror.ParameterError)
				if got := e.GetErrorMessage(); got != tt.want {
					t.Errorf("got the message %q, want %q", got, tt.want)
				}
				if data := fmt.Sprint(e.GetData()); !strings.Contains(data, "hunter2") {
					t.Errorf("the client receives %s", data)
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
		for name, tt := range map[string]struct {
			err  error
			want int
		}{
			"alone":     {long, 511},
			"in a list": {userErrors{long, plainError{"city", "too short"}}, 511},
			"not UTF-8": {broken, 3}, // one replacement character
		} {
			got := list(t, rejected(t, &fakeRequest{err: tt.err}, xerror.ParameterError))[0].Message
			if len(got) != tt.want || !utf8.ValidString(got) {
				t.Errorf("%s: got %d bytes, want %d of valid UTF-8", name, len(got), tt.want)
			}
		}
	})
}

func TestMethods_Summary(t *testing.T) {
	for _, err := range []error{
		plainError{"city", strings.Repeat("a", 5000)},
		plainError{strings.Repeat("c", 5000), "too short"},
	} {
		e := rejected(t, &fakeRequest{err: err}, xerror.ParameterError)
		if got := len(e.GetErrorMessage()); got != 512 {
			t.Errorf("got %d bytes, want 512", got)
		}
	}
}

// logged returns the line about the error in the log, at its lowest level.
func logged(t *testing.T, e *xerror.Error) string {
	t.Helper()
	var line bytes.Buffer
	log, err := xlog.New(xlog.Config{
		Writer: &line, Format: xlog.FormatJSON,
		Level: slog.LevelDebug,
	})
	if err != nil {
		t.Fatal(err)
	}
	log.WithName(xlog.NamedGRPC).Debug(t.Context(), string(e.GetErrorMessage()),
		slog.Any("error", e))
	if line.Len() == 0 {
		t.Fatal("no line")
	}
	return line.String()
}
