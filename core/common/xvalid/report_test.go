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

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xValid "github.com/plinthgo/plinth/core/common/xvalid"
)

// reporter is what a gin context looks like from here.
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

type refusing struct{}

func (*refusing) UnmarshalJSON(b []byte) error { return errors.New("cannot read " + string(b)) }

func TestHandleValidationErrorReportsOnce(t *testing.T) {
	decode := func(text string, dst any) error { return json.Unmarshal([]byte(text), dst) }
	var small struct {
		Age int8 `json:"age"`
		T   time.Time
		R   refusing
		Q   int `json:",string"`
	}
	_, number := strconv.Atoi(secret)
	_, clock := time.Parse(time.RFC3339, secret)
	for _, tc := range []struct {
		name string
		err  error
		from []xValid.Source
		want *xError.ErrorCode
	}{
		{"validation", xValid.Validate(t.Context(), item{}), nil, xError.BodyError},
		{"validation of a query", xValid.Validate(t.Context(), item{}), []xValid.Source{xValid.Query}, xError.ParameterError},
		{"validation of a path", xValid.Validate(t.Context(), item{}), []xValid.Source{xValid.Path}, xError.ParameterError},
		{"validation of headers", xValid.Validate(t.Context(), item{}), []xValid.Source{xValid.Header}, xError.HeaderError},
		{"empty body", io.EOF, nil, xError.BodyEmpty},
		{"half a body", io.ErrUnexpectedEOF, nil, xError.BodyError},
		{"large body", &http.MaxBytesError{Limit: 5}, nil, xError.PayloadTooLarge},
		{"slow body", os.ErrDeadlineExceeded, nil, xError.ReadTimeout},
		{"closed connection", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, nil, xError.Canceled},
		{"canceled", context.Canceled, nil, xError.Canceled},
		{"syntax", decode(`{"age":`+secret, &small), nil, xError.BodyError},
		{"range", decode(`{"age":987654321}`, &small), nil, xError.BodyType},
		{"type", decode(`{"age":"`+secret+`"}`, &small), nil, xError.BodyType},
		{"time", decode(`{"T":"`+secret+`"}`, &small), nil, xError.BodyType},
		{"own type", decode(`{"R":"`+secret+`"}`, &small), nil, xError.BodyError},
		{"quoted", decode(`{"Q":"`+secret+`"}`, &small), nil, xError.BodyType},
		{"quoted and no string", decode(`{"Q":987654321}`, &small), nil, xError.BodyType},
		{"number", number, []xValid.Source{xValid.Query}, xError.ParameterType},
		{"number in a header", number, []xValid.Source{xValid.Header}, xError.HeaderType},
		{"clock", clock, []xValid.Source{xValid.Path}, xError.ParameterType},
		{"another error of the catalogue", xError.New(xError.Existed, "taken"), nil, xError.Existed},
		{"unknown", errors.New(secret), nil, xError.BodyError},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := &reporter{Context: t.Context()}
			if !xValid.HandleValidationError(c, tc.err, tc.from...) || len(c.errs) != 1 || c.aborted != 1 {
				t.Fatalf("reported %v, aborted %d times, want once each", c.errs, c.aborted)
			}
			e := xError.From(c.errs[0])
			if e.GetErrorCode() != tc.want {
				t.Errorf("code %v, want %v", e.GetErrorCode(), tc.want)
			}
			for _, text := range []string{e.Error(), string(e.GetErrorMessage()), fmt.Sprint(e.GetData())} {
				if strings.Contains(text, "987654321") || strings.Contains(text, secret) {
					t.Errorf("the value is in %q", text)
				}
			}
		})
	}
	c := &reporter{Context: t.Context()}
	if xValid.HandleValidationError(c, nil) || c.aborted != 0 || c.errs != nil {
		t.Error("no error was reported")
	}
}

func TestWrongRuleIsTheServersFault(t *testing.T) {
	type wrong struct {
		V string `binding:"not_a_rule"`
	}
	c := &reporter{Context: t.Context()}
	xValid.HandleValidationError(c, xValid.Validate(t.Context(), wrong{}))
	if got := xError.From(c.errs[0]).GetErrorCode(); got != xError.ServerInternalError {
		t.Errorf("code %v, want SERVER_INTERNAL_ERROR", got)
	}
}
