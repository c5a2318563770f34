package validation_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// fakeRequest is a request whose Validate returns err.
type fakeRequest struct{ err error }

func (r *fakeRequest) Validate() error { return r.err }

// both is a request with both methods of protoc-gen-validate.
type both struct{ all, first error }

func (b *both) ValidateAll() error { return b.all }
func (b *both) Validate() error    { return b.first }

// wantError returns the error of Methods for a request. It must be an *xerror.Error with
// this code.
func wantError(t *testing.T, request any, code *xerror.ErrorCode) *xerror.Error {
	t.Helper()
	err := validation.Methods(t.Context(), request)
	e, ok := err.(*xerror.Error) //nolint:errorlint // err itself
	if !ok {
		t.Fatalf("error = %T %v, want an *xerror.Error", err, err)
	}
	if e.GetErrorCode() != code {
		t.Fatalf("code = %v, want %v", e.GetErrorCode(), code)
	}
	return e
}

// failures returns the failures that are sent to the client.
func failures(t *testing.T, e *xerror.Error) []xvalid.FieldError {
	t.Helper()
	l, ok := e.GetData().([]xvalid.FieldError)
	if !ok {
		t.Fatalf("data = %T, want []xvalid.FieldError", e.GetData())
	}
	return l
}

func TestMethods(t *testing.T) {
	t.Run("accepts a valid request", func(t *testing.T) {
		tests := []struct {
			name    string
			request any
		}{
			{"nil", nil},
			{"no method", &struct{}{}},
			{"a string", "hello"},
			{"valid", &fakeRequest{}},
			{"valid by ValidateAll", &both{first: errors.New("not called")}},
			{"nil pointer", (*fakeRequest)(nil)},
			{"nil pointer with ValidateAll", (*both)(nil)},
			{"typed nil error", &fakeRequest{err: (*userError)(nil)}},
			{"typed nil xerror", &fakeRequest{err: (*xerror.Error)(nil)}},
			{"typed nil list", &fakeRequest{err: userErrors(nil)}},
		}
		for _, tc := range tests {
			t.Run(tc.name, func(t *testing.T) {
				if err := validation.Methods(t.Context(), tc.request); err != nil {
					t.Errorf("error = %v, want nil", err)
				}
			})
		}
	})

	t.Run("prefers ValidateAll", func(t *testing.T) {
		request := &both{all: errors.New("all failures"), first: errors.New("the first")}
		e := wantError(t, request, xerror.ParameterError)
		if got := failures(t, e)[0].Message; got != "all failures" {
			t.Errorf("message = %q, want the error of ValidateAll", got)
		}
	})

	t.Run("reports the text of an unknown error", func(t *testing.T) {
		cause := errors.New("the end is before the start")
		e := wantError(t, &fakeRequest{err: cause}, xerror.ParameterError)
		want := []xvalid.FieldError{{Tag: "invalid", Message: "the end is before the start"}}
		if diff := cmp.Diff(want, failures(t, e)); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
		if !errors.Is(e, cause) {
			t.Error("the error does not wrap the cause")
		}
	})

	t.Run("returns an xerror unchanged", func(t *testing.T) {
		known := xerror.New(xerror.NotExist, "no such order")
		got := validation.Methods(t.Context(), &fakeRequest{err: known})
		if got != error(known) { //nolint:errorlint // the same error
			t.Errorf("error = %v, want the same error", got)
		}
		wrapped := fmt.Errorf("order: %w", known)
		e := wantError(t, &fakeRequest{err: wrapped}, xerror.NotExist)
		if got := e.GetErrorMessage(); got != "no such order" {
			t.Errorf("message = %q, want the message of the wrapped error", got)
		}
		_ = wantError(t, &fakeRequest{err: xerror.NotExist}, xerror.NotExist)
	})

	t.Run("returns a status unchanged", func(t *testing.T) {
		denied := status.Error(codes.PermissionDenied, "not yours")
		got := validation.Methods(t.Context(), &fakeRequest{err: denied})
		if got != denied { //nolint:errorlint // the same error
			t.Errorf("error = %v, want the status", got)
		}
	})

	t.Run("hides the text of a registered foreign error", func(t *testing.T) {
		_, parse := strconv.Atoi("hunter2")
		for _, err := range []error{parse, fmt.Errorf("age: %w", parse), context.DeadlineExceeded} {
			e := wantError(t, &fakeRequest{err: err}, xerror.From(err).GetErrorCode())
			if strings.Contains(string(e.GetErrorMessage()), "hunter2") || e.GetData() != nil {
				t.Errorf("%v: the client receives %q and %v", err, e.GetErrorMessage(), e.GetData())
			}
		}
	})

	t.Run("returns the same list as HTTP", func(t *testing.T) {
		request := &signUp{Name: "x", Tags: []string{"a", "abc"}}
		want := xvalid.BindError(t.Context(), xvalid.Body, xvalid.Validate(t.Context(), request))
		got := wantError(t, request, xerror.ParameterError)
		if diff := cmp.Diff(failures(t, want), failures(t, got)); diff != "" {
			t.Errorf("data (-HTTP +gRPC):\n%s", diff)
		}
		if got.GetErrorMessage() != want.GetErrorMessage() {
			t.Errorf("message = %q, want %q as for HTTP",
				got.GetErrorMessage(), want.GetErrorMessage())
		}
	})

	t.Run("reports an invalid rule as a server error", func(t *testing.T) {
		e := wantError(t, &invalidRule{}, xerror.ServerInternalError)
		if e.GetErrorMessage() != "" {
			t.Errorf("the client receives %q", e.GetErrorMessage())
		}
	})

	t.Run("propagates a panic", func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("Methods did not panic")
			}
		}()
		_ = validation.Methods(t.Context(), panics{})
	})

	t.Run("does not allocate for a valid request", func(t *testing.T) {
		ctx := t.Context()
		check := validation.Join(validation.Methods)
		for name, request := range map[string]any{
			"no method":   &struct{ A int }{1},
			"Validate":    &fakeRequest{},
			"ValidateAll": &both{},
		} {
			if n := testing.AllocsPerRun(100, func() { _ = check(ctx, request) }); n != 0 {
				t.Errorf("%s: allocations = %v, want 0", name, n)
			}
		}
	})
}

type signUp struct {
	Name string   `json:"name" binding:"min=3"`
	Tags []string `json:"tags" binding:"dive,max=2"`
}

func (s *signUp) Validate() error { return xvalid.Validate(context.Background(), s) }

type invalidRule struct {
	Name string `binding:"no_such_rule"`
}

func (m *invalidRule) Validate() error { return xvalid.Validate(context.Background(), m) }

type panics struct{}

func (panics) Validate() error { panic("no") }

func TestReject(t *testing.T) {
	t.Run("limits the number of failures", func(t *testing.T) {
		long := slices.Repeat([]xvalid.FieldError{{Field: "a", Tag: "t", Message: "m"}},
			xvalid.MaxFailures+1)
		e := validation.Reject(t.Context(), long, nil)
		if got := len(failures(t, e)); got != xvalid.MaxFailures {
			t.Errorf("failures = %d, want %d", got, xvalid.MaxFailures)
		}
	})

	t.Run("copies the list", func(t *testing.T) {
		list := []xvalid.FieldError{{Field: "a", Tag: "t", Message: "m"}}
		e := validation.Reject(t.Context(), list, nil)
		list[0].Message = "changed"
		if got := failures(t, e)[0].Message; got != "m" {
			t.Errorf("message = %q, want the original one", got)
		}
	})

	t.Run("summarizes the first failure", func(t *testing.T) {
		chinese := xctx.NewRequest(t.Context(), nil)
		chinese.SetAcceptLanguage("zh-CN")
		tests := []struct {
			name string
			ctx  context.Context
			list []xvalid.FieldError
			want xerror.ErrMessage
		}{
			{
				"with the field", t.Context(),
				[]xvalid.FieldError{{Field: "user.name", Message: "too short"}},
				"user.name: too short",
			},
			{
				"a message that starts with the field", t.Context(),
				[]xvalid.FieldError{{Field: "user.name", Message: "name is too short"}},
				"name is too short",
			},
			{
				"the whole request", t.Context(),
				[]xvalid.FieldError{{Message: "the end is before the start"}},
				"the end is before the start",
			},
			{
				"a long message", t.Context(),
				[]xvalid.FieldError{{Field: "name", Message: strings.Repeat("ä", 5000)}},
				xerror.ErrMessage("name: " + strings.Repeat("ä", 253)),
			},
			{
				"without a message", t.Context(),
				[]xvalid.FieldError{{Field: "name"}},
				"name: the value is not valid",
			},
			{"without a list", t.Context(), nil, "the request is not valid"},
			{
				"without a message, in Chinese", chinese,
				[]xvalid.FieldError{{Field: "name"}},
				"name: 值无效",
			},
			{"without a list, in Chinese", chinese, nil, "请求参数无效"},
		}
		for _, tc := range tests {
			t.Run(tc.name, func(t *testing.T) {
				got := validation.Reject(tc.ctx, tc.list, nil).GetErrorMessage()
				if got != tc.want {
					t.Errorf("message = %q, want %q", got, tc.want)
				}
			})
		}
	})

	t.Run("formats fields and rules only", func(t *testing.T) {
		cause := errors.New(`"hunter2" is too short`)
		e := validation.Reject(t.Context(), []xvalid.FieldError{
			{Field: "password", Tag: "min", Message: "too short"},
			{Field: "name", Tag: "required", Message: "missing"},
		}, cause)
		if !errors.Is(e, cause) {
			t.Error("the error does not wrap the cause")
		}
		const want = "PARAMETER_ERROR: password: too short: " +
			"grpcx/validation: invalid request: password (min), name (required)"
		if e.Error() != want {
			t.Errorf("got  %s\nwant %s", e.Error(), want)
		}
	})
}

func TestJoin(t *testing.T) {
	t.Run("stops at the first error", func(t *testing.T) {
		var called []string
		newCheck := func(name string, err error) validation.Check {
			return func(context.Context, any) error { called = append(called, name); return err }
		}
		first := validation.Reject(t.Context(), nil, nil)
		check := validation.Join(newCheck("a", nil), newCheck("b", (*xerror.Error)(nil)),
			newCheck("c", first), newCheck("d", nil))
		got := check(t.Context(), nil)
		if got != error(first) { //nolint:errorlint // the same error
			t.Errorf("error = %v, want the error of c", got)
		}
		if diff := cmp.Diff([]string{"a", "b", "c"}, called); diff != "" {
			t.Errorf("called (-want +got):\n%s", diff)
		}
		if err := validation.Join()(t.Context(), nil); err != nil {
			t.Errorf("error without checks = %v, want nil", err)
		}
	})

	t.Run("panics on a nil check", func(t *testing.T) {
		defer func() {
			if p := recover(); p != "grpcx/validation: check 2 of 2 is nil" {
				t.Errorf("panic = %v, want the position of the check", p)
			}
		}()
		validation.Join(validation.Methods, nil)
	})
}
