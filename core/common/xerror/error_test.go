package xerror_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	xBase "github.com/plinthgo/plinth/core/common/xbase"
	xError "github.com/plinthgo/plinth/core/common/xerror"
)

// errSentinel stands for an error of another package, such as gorm's.
var errSentinel = errors.New("record not found")

func TestCodeAndCauseAreBothFound(t *testing.T) {
	cause := fmt.Errorf("query: %w", errSentinel)
	for name, err := range map[string]error{
		"Wrap":            xError.Wrap(xError.NotExist, "no such user", cause),
		"WrapData":        xError.WrapData(xError.NotExist, "no such user", cause, 1),
		"NewError":        xError.NewError(t.Context(), xError.NotExist, "no such user", false, cause),
		"NewErrorHasData": xError.NewErrorHasData(t.Context(), xError.NotExist, "no such user", false, cause, 1),
		"several causes":  xError.NewError(t.Context(), xError.NotExist, "no such user", false, nil, errors.New("first"), cause),
		"wrapped":         fmt.Errorf("handler: %w", xError.Wrap(xError.NotExist, "no such user", cause)),
		"joined":          errors.Join(errors.New("other"), xError.Wrap(xError.NotExist, "no such user", cause)),
	} {
		if !errors.Is(err, errSentinel) {
			t.Errorf("%s: the cause is not found", name)
		}
		if !errors.Is(err, xError.NotExist) {
			t.Errorf("%s: the code is not found", name)
		}
		if errors.Is(err, xError.Existed) {
			t.Errorf("%s: another code is found", name)
		}
		var code *xError.ErrorCode
		if !errors.As(err, &code) || code != xError.NotExist {
			t.Errorf("%s: As found the code %v", name, code)
		}
		var e *xError.Error
		if !errors.As(err, &e) || e.GetErrorMessage() != "no such user" {
			t.Errorf("%s: As found the error %v", name, e)
		}
	}
}

func TestOuterCodeComesBeforeThatOfTheCause(t *testing.T) {
	err := xError.Wrap(xError.Forbidden, "", xError.New(xError.NotExist, ""))
	var code *xError.ErrorCode
	if !errors.As(err, &code) || code != xError.Forbidden {
		t.Errorf("As found %v, want FORBIDDEN", code)
	}
	if !errors.Is(err, xError.NotExist) {
		t.Error("the code of the cause is not found")
	}
}

func TestErrorSaysLabelMessageAndCause(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  *xError.Error
		want string
	}{
		{"code", xError.New(xError.NotExist, ""), "NOT_EXIST"},
		{"message", xError.New(xError.NotExist, "no such user"), "NOT_EXIST: no such user"},
		{"cause", xError.Wrap(xError.NotExist, "", errSentinel), "NOT_EXIST: record not found"},
		{"both", xError.Wrap(xError.NotExist, "no such user", errSentinel), "NOT_EXIST: no such user: record not found"},
		{"nil cause", xError.Wrap(xError.NotExist, "no such user", nil), "NOT_EXIST: no such user"},
		{"nil code", xError.New(nil, "no such user"), "SERVER_INTERNAL_ERROR: no such user"},
		{"zero", &xError.Error{}, "SERVER_INTERNAL_ERROR"},
		{"nil", nil, "<nil>"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.err.Error(); got != tc.want {
				t.Errorf("Error() = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestNilCausesLeaveNoCause(t *testing.T) {
	var typed *xError.Error
	var typedCode *xError.ErrorCode
	for name, e := range map[string]*xError.Error{
		"none":       xError.NewError(t.Context(), xError.NotExist, "", false),
		"nil":        xError.NewError(t.Context(), xError.NotExist, "", false, nil),
		"nils":       xError.NewError(t.Context(), xError.NotExist, "", false, nil, typed, typedCode),
		"typed nil":  xError.Wrap(xError.NotExist, "", typed),
		"typed code": xError.Wrap(xError.NotExist, "", typedCode),
		"internal":   xError.NewErrorHasData(t.Context(), xError.NotExist, "", false, typed),
	} {
		if got := e.Unwrap(); len(got) != 1 || !errors.Is(got[0], xError.NotExist) {
			t.Errorf("%s: Unwrap() = %v, want the code alone", name, got)
		}
		if e.Error() != "NOT_EXIST" {
			t.Errorf("%s: Error() = %q", name, e.Error())
		}
	}
}

func TestCausesAreCopied(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	causes := []error{first, second}
	e := xError.NewError(t.Context(), xError.NotExist, "", false, causes...)
	causes[0], causes[1] = nil, nil
	if !errors.Is(e, first) || !errors.Is(e, second) {
		t.Errorf("%v changed with the caller's list", e)
	}
}

func TestDataStandsAloneOrAsAList(t *testing.T) {
	ctx := t.Context()
	for _, tc := range []struct {
		name string
		err  *xError.Error
		want any
	}{
		{"none", xError.NewErrorHasData(ctx, xError.DataError, "", false, nil), nil},
		{"one", xError.NewErrorHasData(ctx, xError.DataError, "", false, nil, 7), 7},
		{"several", xError.NewErrorHasData(ctx, xError.DataError, "", false, nil, 7, "x"), []any{7, "x"}},
		{"without a flag", xError.WrapData(xError.DataError, "", nil, 7), 7},
		{"no data at all", xError.New(xError.DataError, ""), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.err.GetData()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNilAndZeroErrorsDoNotPanic(t *testing.T) {
	for name, e := range map[string]*xError.Error{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			for _, ctx := range []context.Context{nil, t.Context()} {
				_ = e.Error()
				_ = e.Unwrap()
				if e.GetErrorMessage() != "" || e.GetData() != nil {
					t.Error("nothing has a message or data")
				}
				if s := e.GetErrorCode().Status(); s != 500 {
					t.Errorf("status %d, want 500", s)
				}
				for _, p := range []xBase.Profile{xBase.ProfilePlinth, xBase.ProfileJava} {
					if status, r := e.Response(ctx, p); status != 500 || r.Code/100 != 500 {
						t.Errorf("Response = %d, %+v", status, r)
					}
				}
				if p := e.Problem(ctx); p.Status != 500 {
					t.Errorf("Problem = %+v", p)
				}
				if _, err := e.AppendProblem(ctx, nil); err != nil {
					t.Error(err)
				}
			}
			if errors.Is(e, xError.NotExist) {
				t.Error("it is NotExist")
			}
			_ = fmt.Sprintf("%v %+v %s", e, e, e)
		})
	}
	if (*xError.Error)(nil).GetErrorCode() != nil {
		t.Error("no error has a code")
	}
	if got := (&xError.Error{}).GetErrorCode(); got != xError.ServerInternalError {
		t.Errorf("the zero value has the code %v", got)
	}
}

func TestErrMessageIsText(t *testing.T) {
	if got := xError.ErrMessage("text").String(); got != "text" {
		t.Errorf("String() = %q", got)
	}
}

func TestAnErrorCostsOneAllocation(t *testing.T) {
	ctx := t.Context()
	var keep *xError.Error
	for name, build := range map[string]func(){
		"New":               func() { keep = xError.New(xError.NotExist, "no such user") },
		"Wrap":              func() { keep = xError.Wrap(xError.NotExist, "no such user", errSentinel) },
		"NewError":          func() { keep = xError.NewError(ctx, xError.NotExist, "no such user", false) },
		"NewError, a cause": func() { keep = xError.NewError(ctx, xError.NotExist, "no such user", false, errSentinel) },
	} {
		if got := testing.AllocsPerRun(100, build); got > 1 {
			t.Errorf("%s: %v allocations, want 1", name, got)
		}
	}
	if got := testing.AllocsPerRun(100, func() { keep = xError.From(keep) }); got != 0 {
		t.Errorf("From of an *Error: %v allocations, want 0", got)
	}
}

func BenchmarkError(b *testing.B) {
	ctx := b.Context()
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = xError.NewError(ctx, xError.NotExist, "no such user", false, errSentinel)
		}
	})
	b.Run("from/unknown", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = xError.From(errSentinel)
		}
	})
	e := xError.New(xError.NotExist, "no such user")
	b.Run("response", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e.Response(ctx, xBase.ProfilePlinth)
		}
	})
	b.Run("problem", func(b *testing.B) {
		b.ReportAllocs()
		buf := make([]byte, 0, 1024)
		for b.Loop() {
			if _, err := e.AppendProblem(ctx, buf); err != nil {
				b.Fatal(err)
			}
		}
	})
}
