package xerror_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
)

var errSentinel = errors.New("record not found")

func TestError_Unwrap(t *testing.T) {
	t.Run("returns the code and the cause", func(t *testing.T) {
		cause := fmt.Errorf("query: %w", errSentinel)
		for name, err := range map[string]error{
			"Wrap":     xerror.Wrap(xerror.NotExist, "no such user", cause),
			"WrapData": xerror.WrapData(xerror.NotExist, "no such user", cause, 1),
			"NewError": xerror.NewError(t.Context(), xerror.NotExist, "no such user",
				false, cause),
			"NewErrorHasData": xerror.NewErrorHasData(t.Context(), xerror.NotExist, "no such user",
				false, cause, 1),
			"several causes": xerror.NewError(t.Context(), xerror.NotExist, "no such user",
				false, nil, errors.New("first"), cause),
			"wrapped": fmt.Errorf("handler: %w",
				xerror.Wrap(xerror.NotExist, "no such user", cause)),
			"joined": errors.Join(errors.New("other"),
				xerror.Wrap(xerror.NotExist, "no such user", cause)),
		} {
			if !errors.Is(err, errSentinel) {
				t.Errorf("%s: errors.Is does not find the cause", name)
			}
			if !errors.Is(err, xerror.NotExist) {
				t.Errorf("%s: errors.Is does not find the code", name)
			}
			if errors.Is(err, xerror.Existed) {
				t.Errorf("%s: errors.Is finds another code", name)
			}
			var code *xerror.ErrorCode
			if !errors.As(err, &code) || code != xerror.NotExist {
				t.Errorf("%s: errors.As = code %v", name, code)
			}
			var e *xerror.Error
			if !errors.As(err, &e) || e.GetErrorMessage() != "no such user" {
				t.Errorf("%s: errors.As = error %v", name, e)
			}
		}
	})

	t.Run("returns the outer code first", func(t *testing.T) {
		err := xerror.Wrap(xerror.Forbidden, "", xerror.New(xerror.NotExist, ""))
		var code *xerror.ErrorCode
		if !errors.As(err, &code) || code != xerror.Forbidden {
			t.Errorf("errors.As = %v, want FORBIDDEN", code)
		}
		if !errors.Is(err, xerror.NotExist) {
			t.Error("errors.Is does not find the code of the cause")
		}
	})

	t.Run("omits nil causes", func(t *testing.T) {
		var typed *xerror.Error
		var typedCode *xerror.ErrorCode
		for name, e := range map[string]*xerror.Error{
			"no cause": xerror.NewError(t.Context(), xerror.NotExist, "", false),
			"nil":      xerror.NewError(t.Context(), xerror.NotExist, "", false, nil),
			"nils": xerror.NewError(t.Context(), xerror.NotExist, "",
				false, nil, typed, typedCode),
			"typed nil":  xerror.Wrap(xerror.NotExist, "", typed),
			"typed code": xerror.Wrap(xerror.NotExist, "", typedCode),
			"NewErrorHasData": xerror.NewErrorHasData(t.Context(), xerror.NotExist, "",
				false, typed),
		} {
			if got := e.Unwrap(); len(got) != 1 || !errors.Is(got[0], xerror.NotExist) {
				t.Errorf("%s: Unwrap() = %v, want the code only", name, got)
			}
			if e.Error() != "NOT_EXIST" {
				t.Errorf("%s: Error() = %q", name, e.Error())
			}
		}
	})
}

func TestError_Error(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  *xerror.Error
		want string
	}{
		{"code", xerror.New(xerror.NotExist, ""), "NOT_EXIST"},
		{"message", xerror.New(xerror.NotExist, "no such user"), "NOT_EXIST: no such user"},
		{"cause", xerror.Wrap(xerror.NotExist, "", errSentinel), "NOT_EXIST: record not found"},
		{
			"both", xerror.Wrap(xerror.NotExist, "no such user", errSentinel),
			"NOT_EXIST: no such user: record not found",
		},
		{"nil cause", xerror.Wrap(xerror.NotExist, "no such user", nil), "NOT_EXIST: no such user"},
		{"nil code", xerror.New(nil, "no such user"), "SERVER_INTERNAL_ERROR: no such user"},
		{"zero", &xerror.Error{}, "SERVER_INTERNAL_ERROR"},
		{"nil", nil, "<nil>"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.err.Error(); got != tc.want {
				t.Errorf("Error() = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestNewError(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	causes := []error{first, second}
	e := xerror.NewError(t.Context(), xerror.NotExist, "", false, causes...)
	causes[0], causes[1] = nil, nil
	if !errors.Is(e, first) || !errors.Is(e, second) {
		t.Errorf("%v shares the list of the caller", e)
	}
}

func TestError_GetData(t *testing.T) {
	ctx := t.Context()
	for _, tc := range []struct {
		name string
		err  *xerror.Error
		want any
	}{
		{"no value", xerror.NewErrorHasData(ctx, xerror.DataError, "", false, nil), nil},
		{"one value", xerror.NewErrorHasData(ctx, xerror.DataError, "", false, nil, 7), 7},
		{
			"several values", xerror.NewErrorHasData(ctx, xerror.DataError, "", false, nil, 7, "x"),
			[]any{7, "x"},
		},
		{"WrapData", xerror.WrapData(xerror.DataError, "", nil, 7), 7},
		{"New", xerror.New(xerror.DataError, ""), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.err.GetData()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestError_Nil(t *testing.T) {
	for name, e := range map[string]*xerror.Error{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			for _, ctx := range []context.Context{nil, t.Context()} {
				_ = e.Error()
				_ = e.Unwrap()
				if e.GetErrorMessage() != "" || e.GetData() != nil {
					t.Error("message or data is not empty")
				}
				if s := e.GetErrorCode().Status(); s != 500 {
					t.Errorf("status %d, want 500", s)
				}
				for _, p := range []xbase.Profile{xbase.ProfilePlinth, xbase.ProfileJava} {
					if status, r := e.Response(ctx, p); status != 500 || r.Code/100 != 500 {
						t.Errorf("Response = %d, %+v", status, r)
					}
				}
				if p := e.Problem(ctx); p.Status != 500 {
					t.Errorf("Problem = %+v", p)
				}
			}
			if errors.Is(e, xerror.NotExist) {
				t.Error("errors.Is(e, NotExist) = true")
			}
			_ = fmt.Sprintf("%v %+v %s", e, e, e)
		})
	}
	if (*xerror.Error)(nil).GetErrorCode() != nil {
		t.Error("code of a nil error is not nil")
	}
	if got := (&xerror.Error{}).GetErrorCode(); got != xerror.ServerInternalError {
		t.Errorf("code of the zero value = %v", got)
	}
}

func TestErrMessage_String(t *testing.T) {
	if got := xerror.ErrMessage("text").String(); got != "text" {
		t.Errorf("String() = %q", got)
	}
}

func TestNewError_Allocations(t *testing.T) {
	ctx := t.Context()
	var e *xerror.Error
	for name, build := range map[string]func(){
		"New": func() { e = xerror.New(xerror.NotExist, "no such user") },
		"Wrap": func() {
			e = xerror.Wrap(xerror.NotExist, "no such user", errSentinel)
		},
		"NewError": func() {
			e = xerror.NewError(ctx, xerror.NotExist, "no such user", false)
		},
		"NewError, a cause": func() {
			e = xerror.NewError(ctx, xerror.NotExist, "no such user", false, errSentinel)
		},
	} {
		if got := testing.AllocsPerRun(100, build); got > 1 {
			t.Errorf("%s: %v allocations, want 1", name, got)
		}
	}
	if got := testing.AllocsPerRun(100, func() { e = xerror.From(e) }); got != 0 {
		t.Errorf("From of an *Error: %v allocations, want 0", got)
	}
}

func BenchmarkError(b *testing.B) {
	ctx := b.Context()
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = xerror.NewError(ctx, xerror.NotExist, "no such user", false, errSentinel)
		}
	})
	b.Run("from/unknown", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = xerror.From(errSentinel)
		}
	})
	e := xerror.New(xerror.NotExist, "no such user")
	b.Run("response", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e.Response(ctx, xbase.ProfilePlinth)
		}
	})
}
