package xvalid_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
)

// reporter implements xvalid.Reporter like a gin context.
type reporter struct {
	context.Context
	errs    []error
	aborted int
}

type reported struct{ error }

func (r *reporter) Error(err error) *reported {
	r.errs = append(r.errs, err)
	return &reported{err}
}

func (r *reporter) Abort() { r.aborted++ }

type failingUnmarshaler struct{}

func (*failingUnmarshaler) UnmarshalJSON(b []byte) error {
	return errors.New("cannot read " + string(b))
}

func TestHandleValidationError(t *testing.T) {
	t.Run("reports once", func(t *testing.T) {
		decode := func(text string, dst any) error { return json.Unmarshal([]byte(text), dst) }
		var small struct {
			Age int8 `json:"age"`
			T   time.Time
			R   failingUnmarshaler
			Q   int `json:",string"`
		}
		_, numberErr := strconv.Atoi(secret)
		_, timeErr := time.Parse(time.RFC3339, secret)
		for _, tc := range []struct {
			name string
			err  error
			from []xvalid.Source
			want *xerror.ErrorCode
		}{
			{"validation", xvalid.Validate(t.Context(), item{}), nil, xerror.BodyError},
			{
				"validation of a query", xvalid.Validate(t.Context(), item{}),
				[]xvalid.Source{xvalid.Query},
				xerror.ParameterError,
			},
			{
				"validation of a path", xvalid.Validate(t.Context(), item{}),
				[]xvalid.Source{xvalid.Path},
				xerror.ParameterError,
			},
			{
				"validation of headers", xvalid.Validate(t.Context(), item{}),
				[]xvalid.Source{xvalid.Header},
				xerror.HeaderError,
			},
			{"empty body", io.EOF, nil, xerror.BodyEmpty},
			{"truncated body", io.ErrUnexpectedEOF, nil, xerror.BodyError},
			{"large body", &http.MaxBytesError{Limit: 5}, nil, xerror.PayloadTooLarge},
			{"slow body", os.ErrDeadlineExceeded, nil, xerror.ReadTimeout},
			{
				"closed connection", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, nil,
				xerror.Canceled,
			},
			{"canceled", context.Canceled, nil, xerror.Canceled},
			{"syntax", decode(`{"age":`+secret, &small), nil, xerror.BodyError},
			{"range", decode(`{"age":987654321}`, &small), nil, xerror.BodyType},
			{"type", decode(`{"age":"`+secret+`"}`, &small), nil, xerror.BodyType},
			{"time", decode(`{"T":"`+secret+`"}`, &small), nil, xerror.BodyType},
			{"custom decoder", decode(`{"R":"`+secret+`"}`, &small), nil, xerror.BodyError},
			{"quoted text", decode(`{"Q":"`+secret+`"}`, &small), nil, xerror.BodyType},
			{"number without quotes", decode(`{"Q":987654321}`, &small), nil, xerror.BodyType},
			{"number in a query", numberErr, []xvalid.Source{xvalid.Query}, xerror.ParameterType},
			{"number in a header", numberErr, []xvalid.Source{xvalid.Header}, xerror.HeaderType},
			{"time in a path", timeErr, []xvalid.Source{xvalid.Path}, xerror.ParameterType},
			{
				"another error of the catalogue",
				xerror.New(xerror.Existed, "taken"), nil, xerror.Existed,
			},
			{"unknown", errors.New(secret), nil, xerror.BodyError},
		} {
			t.Run(tc.name, func(t *testing.T) {
				c := &reporter{Context: t.Context()}
				if !xvalid.HandleValidationError(c, tc.err, tc.from...) || len(c.errs) != 1 ||
					c.aborted != 1 {
					t.Fatalf("reported %v, aborted %d times, want 1 report and 1 abort",
						c.errs, c.aborted)
				}
				e := xerror.From(c.errs[0])
				if e.GetErrorCode() != tc.want {
					t.Errorf("code %v, want %v", e.GetErrorCode(), tc.want)
				}
				for _, text := range []string{
					e.Error(), string(e.GetErrorMessage()), fmt.Sprint(e.GetData()),
				} {
					if strings.Contains(text, "987654321") || strings.Contains(text, secret) {
						t.Errorf("output contains the value: %q", text)
					}
				}
			})
		}
		c := &reporter{Context: t.Context()}
		if xvalid.HandleValidationError(c, nil) || c.aborted != 0 || c.errs != nil {
			t.Error("a nil error is reported")
		}
	})

	t.Run("reports an invalid rule as a server error", func(t *testing.T) {
		type invalid struct {
			V string `binding:"not_a_rule"`
		}
		c := &reporter{Context: t.Context()}
		xvalid.HandleValidationError(c, xvalid.Validate(t.Context(), invalid{}))
		if got := xerror.From(c.errs[0]).GetErrorCode(); got != xerror.ServerInternalError {
			t.Errorf("code %v, want SERVER_INTERNAL_ERROR", got)
		}
	})
}
