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

// errQuoting is a weak check's error, which repeats what the client sent.
var errQuoting = fmt.Errorf("password %q is too weak", "hunter2")

func TestAnErrorThatNobodyKnowsIsToldToTheCallerAlone(t *testing.T) {
	short := plainError{"city", "too short"}
	for _, tt := range []struct {
		name string
		err  error
		want xerror.ErrMessage
	}{
		{"alone", errQuoting, "the request is not valid"},
		{"wrapped", fmt.Errorf("user: %w", errQuoting), "the request is not valid"},
		{"in a list alone", userErrors{errQuoting, errQuoting}, "the request is not valid"},
		{"first of a list", userErrors{errQuoting, short}, "city: too short"},
		{"joined", errors.Join(errQuoting, short), "city: too short"},
		{
			"wrapped and joined",
			errors.Join(fmt.Errorf("user: %w", errQuoting), short), "city: too short",
		},
		{"last of a list", userErrors{short, errQuoting}, "city: too short"},
		{
			"beside nested fields",
			userErrors{userError{field: "home", cause: userErrors{errQuoting, short}}},
			"home.city: too short",
		},
		{"in a field", userError{
			field: "home", reason: inside,
			cause: userErrors{errQuoting, userErrors{}},
		}, "the request is not valid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := refused(t, &answer{err: tt.err}, xerror.ParameterError)
			if got := e.GetErrorMessage(); got != tt.want {
				t.Errorf("got the message %q, want %q", got, tt.want)
			}
			if told := fmt.Sprint(e.GetData()); !strings.Contains(told, "hunter2") {
				t.Errorf("the caller sees %s", told)
			}
			if text := logged(t, e); strings.Contains(text, "hunter2") {
				t.Errorf("the log has the value: %s", text)
			}
		})
	}
}

func TestATextThatNobodyKnowsIsBounded(t *testing.T) {
	long := errors.New("a" + strings.Repeat("ä", 5000)) // byte 512 is within a rune
	broken := errors.New(strings.Repeat("\x80", 5000))
	for name, tt := range map[string]struct {
		err  error
		want int
	}{
		"alone": {long, 511}, "in a list": {userErrors{long, plainError{"city", "too short"}}, 511},
		"not UTF-8": {broken, 3}, // one replacement for all of it
	} {
		got := list(t, refused(t, &answer{err: tt.err}, xerror.ParameterError))[0].Message
		if len(got) != tt.want || !utf8.ValidString(got) {
			t.Errorf("%s: got %d bytes, want %d and whole runes", name, len(got), tt.want)
		}
	}
}

func TestAReasonOfAnyLengthMakesAShortSummary(t *testing.T) {
	for _, err := range []error{
		plainError{"city", strings.Repeat("a", 5000)},
		plainError{strings.Repeat("c", 5000), "too short"},
	} {
		e := refused(t, &answer{err: err}, xerror.ParameterError)
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
