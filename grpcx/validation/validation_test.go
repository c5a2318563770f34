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

func (a *fakeRequest) Validate() error { return a.err }

// both is a request with both methods, as protoc-gen-validate generates them.
type both struct{ all, first error }

func (b *both) ValidateAll() error { return b.all }
func (b *both) Validate() error    { return b.first }

// rejected returns the error for a request, which must be an *xerror.Error with this
// code.
func rejected(t *testing.T, request any, code *xerror.ErrorCode) *xerror.Error {
	t.Helper()
	err := validation.Methods(t.Context(), request)
	e, ok := err.(*xerror.Error) //nolint:errorlint // the error itself is wanted
	if !ok {
		t.Fatalf("got %T %v, want an *xerror.Error", err, err)
	}
	if e.GetErrorCode() != code {
		t.Fatalf("got the code %v, want %v", e.GetErrorCode(), code)
	}
	return e
}

// list returns the failures sent to the client.
func list(t *testing.T, e *xerror.Error) []xvalid.FieldError {
	t.Helper()
	l, ok := e.GetData().([]xvalid.FieldError)
	if !ok {
		t.Fatalf("got the data %T, want []xvalid.FieldError", e.GetData())
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
			{"a text", "hello"},
			{"valid", &fakeRequest{}},
			{"valid in all", &both{first: errors.New("not called")}},
			{"nil pointer", (*fakeRequest)(nil)},
			{"nil pointer with ValidateAll", (*both)(nil)},
			{"typed nil error", &fakeRequest{err: (*userError)(nil)}},
			{"typed nil xerror", &fakeRequest{err: (*xerror.Error)(nil)}},
			{"typed nil list", &fakeRequest{err: userErrors(nil)}},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				if err := validation.Methods(t.Context(), tt.request); err != nil {
					t.Errorf("got %v, want nil", err)
				}
			})
		}
	})

	t.Run("prefers ValidateAll", func(t *testing.T) {
		request := &both{all: errors.New("all failures"), first: errors.New("the first")}
		if got := list(t, rejected(t, request,
			xerror.ParameterError))[0].Message; got != "all failures" {
			t.Errorf("got %q, want the error of ValidateAll", got)
		}
	})

	t.Run("reports the text of an unknown error", func(t *testing.T) {
		cause := errors.New("the end is before the start")
		e := rejected(t, &fakeRequest{err: cause}, xerror.ParameterError)
		want := []xvalid.FieldError{{Tag: "invalid", Message: "the end is before the start"}}
		if diff := cmp.Diff(want, list(t, e)); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
		if !errors.Is(e, cause) {
			t.Error("the error does not wrap the cause")
		}
	})

	t.Run("returns an xerror unchanged", func(t *testing.T) {
		known := xerror.New(xerror.NotExist, "no such order")
		if got := validation.Methods(t.Context(),
			&fakeRequest{err: known}); got != error(known) { //nolint:errorlint // the same error
			t.Errorf("got %v, want the same error", got)
		}
		wrapped := fmt.Errorf("order: %w", known)
		if got := rejected(t, &fakeRequest{err: wrapped},
			xerror.NotExist).GetErrorMessage(); got != "no such order" {
			t.Errorf("got the message %q", got)
		}
		_ = rejected(t, &fakeRequest{err: xerror.NotExist}, xerror.NotExist)
	})

	t.Run("returns a status unchanged", func(t *testing.T) {
		denied := status.Error(codes.PermissionDenied, "not yours")
		if got := validation.Methods(t.Context(),
			&fakeRequest{err: denied}); got != denied { //nolint:errorlint // the same error
			t.Errorf("got %v, want the status", got)
		}
	})

	t.Run("hides the text of a registered foreign error", func(t *testing.T) {
		_, parse := strconv.Atoi("hunter2")
		for _, err := range []error{parse, fmt.Errorf("age: %w", parse), context.DeadlineExceeded} {
			e := rejected(t, &fakeRequest{err: err}, xerror.From(err).GetErrorCode())
			if strings.Contains(string(e.GetErrorMessage()), "hunter2") || e.GetData() != nil {
				t.Errorf("%v: the client receives %q and %v", err, e.GetErrorMessage(), e.GetData())
			}
		}
	})

	t.Run("returns the same list as HTTP", func(t *testing.T) {
		request := &signUp{Name: "x", Tags: []string{"a", "abc"}}
		want := xvalid.BindError(t.Context(), xvalid.Body, xvalid.Validate(t.Context(), request))
		got := rejected(t, request, xerror.ParameterError)
		if diff := cmp.Diff(list(t, want), list(t, got)); diff != "" {
			t.Errorf("data (-HTTP +gRPC):\n%s", diff)
		}
		if got.GetErrorMessage() != want.GetErrorMessage() {
			t.Errorf("got the message %q, want %q as for HTTP",
				got.GetErrorMessage(), want.GetErrorMessage())
		}
	})

	t.Run("reports a wrong rule as a server error", func(t *testing.T) {
		if e := rejected(t, &misruled{}, xerror.ServerInternalError); e.GetErrorMessage() != "" {
			t.Errorf("the client receives %q", e.GetErrorMessage())
		}
	})

	t.Run("propagates a panic", func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = validation.Methods(t.Context(), panics{})
	})

	t.Run("does not allocate for a valid request", func(t *testing.T) {
		ctx := t.Context()
		check := validation.Join(validation.Methods)
		for name, request := range map[string]any{
			"no method": &struct{ A int }{1},
			"Validate":  &fakeRequest{}, "ValidateAll": &both{},
		} {
			if n := testing.AllocsPerRun(100, func() { _ = check(ctx, request) }); n != 0 {
				t.Errorf("%s: got %v allocations, want 0", name, n)
			}
		}
	})
}

type signUp struct {
	Name string   `json:"name" binding:"min=3"`
	Tags []string `json:"tags" binding:"dive,max=2"`
}

func (s *signUp) Validate() error { return xvalid.Validate(context.Background(), s) }

type misruled struct {
	Name string `binding:"no_such_rule"`
}

func (m *misruled) Validate() error { return xvalid.Validate(context.Background(), m) }

type panics struct{}

func (panics) Validate() error { panic("no") }

func TestRefuse(t *testing.T) {
	t.Run("limits the number of failures", func(t *testing.T) {
		long := slices.Repeat([]xvalid.FieldError{{Field: "a", Tag: "t", Message: "m"}},
			xvalid.MaxFailures+1)
		e := validation.Refuse(t.Context(), long, nil)
		if got := len(list(t, e)); got != xvalid.MaxFailures {
			t.Errorf("got %d failures, want %d", got, xvalid.MaxFailures)
		}
	})

	t.Run("copies the list", func(t *testing.T) {
		given := []xvalid.FieldError{{Field: "a", Tag: "t", Message: "m"}}
		e := validation.Refuse(t.Context(), given, nil)
		given[0].Message = "changed"
		if got := list(t, e)[0].Message; got != "m" {
			t.Errorf("got %q, want the original message", got)
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
			{"with the field", t.Context(), []xvalid.FieldError{{
				Field:   "user.name",
				Message: "too short",
			}}, "user.name: too short"},
			{"not twice", t.Context(), []xvalid.FieldError{{
				Field:   "user.name",
				Message: "name is too short",
			}}, "name is too short"},
			{
				"the request as a whole",
				t.Context(),
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
				"without a message, in Chinese",
				chinese,
				[]xvalid.FieldError{{Field: "name"}},
				"name: 值无效",
			},
			{"without a list, in Chinese", chinese, nil, "请求参数无效"},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				if got := validation.Refuse(tt.ctx, tt.list,
					nil).GetErrorMessage(); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		}
	})

	t.Run("formats fields and rules only", func(t *testing.T) {
		cause := errors.New(`"hunter2" is too short`)
		e := validation.Refuse(t.Context(), []xvalid.FieldError{
			{Field: "password", Tag: "min", Message: "too short"},
			{Field: "name", Tag: "required", Message: "missing"},
		}, cause)
		if !errors.Is(e, cause) {
			t.Error("the error does not wrap the cause")
		}
		const want = "PARAMETER_ERROR: password: too short: grpcx/validation: invalid request: password (min), name (required)"
		if e.Error() != want {
			t.Errorf("got  %s\nwant %s", e.Error(), want)
		}
	})
}

func TestJoin(t *testing.T) {
	t.Run("stops at the first error", func(t *testing.T) {
		var called []string
		returns := func(name string, err error) validation.Check {
			return func(context.Context, any) error { called = append(called, name); return err }
		}
		first := validation.Refuse(t.Context(), nil, nil)
		check := validation.Join(returns("a", nil), returns("b", (*xerror.Error)(nil)),
			returns("c", first),
			returns("d", nil))
		if got := check(t.Context(), nil); got != error(first) { //nolint:errorlint // the same error
			t.Errorf("got %v, want the error of c", got)
		}
		if diff := cmp.Diff([]string{"a", "b", "c"}, called); diff != "" {
			t.Errorf("called (-want +got):\n%s", diff)
		}
		if err := validation.Join()(t.Context(), nil); err != nil {
			t.Errorf("no checks: got %v", err)
		}
	})

	t.Run("panics on a nil check", func(t *testing.T) {
		defer func() {
			if p := recover(); p != "grpcx/validation: check 2 of 2 is nil" {
				t.Errorf("got the panic %v", p)
			}
		}()
		validation.Join(validation.Methods, nil)
	})
}
