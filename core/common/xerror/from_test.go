package xerror_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
)

func TestFrom(t *testing.T) {
	t.Run("returns nil for nil errors", func(t *testing.T) {
		var typed *xerror.Error
		var code *xerror.ErrorCode
		for name, err := range map[string]error{"nil": nil, "nil error": typed, "nil code": code} {
			if got := xerror.From(err); got != nil {
				t.Errorf("%s: %v", name, got)
			}
		}
	})

	t.Run("returns an Error unchanged", func(t *testing.T) {
		e := xerror.New(xerror.NotExist, "m")
		if got := xerror.From(e); got != e {
			t.Errorf("From = %v, want the same error", got)
		}
	})

	t.Run("returns code, message and data of a wrapped Error", func(t *testing.T) {
		inner := xerror.WrapData(xerror.NotExist, "no such user", errSentinel, 7)
		var typed *xerror.Error
		for name, err := range map[string]error{
			"wrapped":       fmt.Errorf("service: %w", inner),
			"wrapped twice": fmt.Errorf("handler: %w", fmt.Errorf("service: %w", inner)),
			"joined": errors.Join(errors.New("x"), inner,
				xerror.New(xerror.Gone, "second")),
			"two verbs":            fmt.Errorf("%w, %w", errors.New("x"), inner),
			"after a typed nil":    errors.Join(typed, inner),
			"after a mapped error": errors.Join(fs.ErrExist, inner),
			"after a code":         errors.Join(xerror.Forbidden, inner),
			"converted by As":      fmt.Errorf("x: %w", convertible{inner}),
		} {
			got := xerror.From(err)
			if got.GetErrorCode() != xerror.NotExist || got.GetErrorMessage() != "no such user" ||
				got.GetData() != 7 {
				t.Errorf("%s: %v %q %v",
					name, got.GetErrorCode(), got.GetErrorMessage(), got.GetData())
			}
			if got.Error() != err.Error() {
				t.Errorf("%s: Error = %q, want %q", name, got, err)
			}
			if !errors.Is(got, err) || !errors.Is(got, xerror.NotExist) {
				t.Errorf("%s: errors.Is does not find the error or the code", name)
			}
			if name != "converted by As" && !errors.Is(got, errSentinel) {
				t.Errorf("%s: errors.Is does not find the cause", name)
			}
		}
	})

	t.Run("returns a bare or wrapped code", func(t *testing.T) {
		if got := xerror.From(xerror.NotExist); got.GetErrorCode() != xerror.NotExist ||
			got.Error() != "NOT_EXIST" {
			t.Errorf("bare: %v", got)
		}
		err := fmt.Errorf("user 7: %w", xerror.NotExist)
		got := xerror.From(err)
		if got.GetErrorCode() != xerror.NotExist || got.GetErrorMessage() != "" ||
			!errors.Is(got, err) {
			t.Errorf("wrapped: %v", got)
		}
	})

	t.Run("treats a wrapped typed nil as an unknown error", func(t *testing.T) {
		var typed *xerror.Error
		for _, err := range []error{
			fmt.Errorf("x: %w", typed), errors.Join(typed),
			fmt.Errorf("x: %w", (*xerror.ErrorCode)(nil)),
		} {
			if got := xerror.From(err); got.GetErrorCode() != xerror.ServerInternalError {
				t.Errorf("%v: %v", err, got.GetErrorCode())
			}
		}
	})

	t.Run("treats an error that panics as an unknown error", func(t *testing.T) {
		for _, err := range []error{(*fs.PathError)(nil), (*foreignError)(nil)} {
			got := xerror.From(err)
			if got.GetErrorCode() != xerror.ServerInternalError {
				t.Errorf("%T: %v", err, got.GetErrorCode())
			}
		}
		got := xerror.From((*fs.PathError)(nil)).Error()
		if !strings.Contains(got, "*fs.PathError panicked") {
			t.Errorf("Error = %q, want the panic", got)
		}
	})
}

// convertible converts to an *Error with its As method.
type convertible struct{ e *xerror.Error }

func (convertible) Error() string { return "convertible" }

func (c convertible) As(target any) bool {
	p, ok := target.(**xerror.Error)
	if ok {
		*p = c.e
	}
	return ok
}

func TestFrom_Confidentiality(t *testing.T) {
	const secret = "10.0.0.7 password=hunter2 SELECT * FROM users /srv/app.go:17"
	errs := map[string]error{
		"unknown":  errors.New(secret),
		"mapped":   fmt.Errorf("%s: %w", secret, context.DeadlineExceeded),
		"wrapped":  fmt.Errorf("%s: %w", secret, xerror.New(xerror.NotExist, "no such user")),
		"cause":    xerror.Wrap(xerror.DatabaseError, "", errors.New(secret)),
		"internal": xerror.Wrap(xerror.ServerInternalError, "cannot save", errors.New(secret)),
		"joined":   errors.Join(errors.New(secret), xerror.Existed),
	}
	for name, err := range errs {
		e := xerror.From(err)
		if !strings.Contains(e.Error(), secret) {
			t.Errorf("%s: Error does not contain the cause", name)
		}
		_, plinth := e.Response(t.Context(), xbase.ProfilePlinth)
		_, java := e.Response(t.Context(), xbase.ProfileJava)
		for form, write := range map[string]func() ([]byte, error){
			"plinth": func() ([]byte, error) {
				return plinth.AppendJSON(nil, xbase.ProfilePlinth)
			},
			"java":    func() ([]byte, error) { return java.AppendJSON(nil, xbase.ProfileJava) },
			"problem": func() ([]byte, error) { return json.Marshal(e.Problem(t.Context())) },
		} {
			text, err := write()
			if err != nil {
				t.Fatal(err)
			}
			for part := range strings.FieldsSeq(secret) {
				if len(part) > 1 && strings.Contains(string(text), part) {
					t.Errorf("%s as %s contains %q: %s", name, form, part, text)
				}
			}
		}
	}
}

var errForeign = errors.New("foreign")

type foreignError struct{ number int }

func (e *foreignError) Error() string { return fmt.Sprint("foreign ", e.number) }

func TestMapper(t *testing.T) {
	is, as := xerror.MapIs(errForeign, xerror.Gone), xerror.MapAs[*foreignError](xerror.Locked)
	for _, tc := range []struct {
		name   string
		mapper xerror.Mapper
		err    error
		want   *xerror.ErrorCode
	}{
		{"is", is, errForeign, xerror.Gone},
		{"is, wrapped", is, fmt.Errorf("x: %w", errForeign), xerror.Gone},
		{"is, no match", is, errSentinel, nil},
		{"as", as, &foreignError{1}, xerror.Locked},
		{"as, joined", as, errors.Join(errForeign, &foreignError{1}), xerror.Locked},
		{"as, no match", as, errForeign, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.mapper(tc.err); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// errDriver is mapped by a single test, because RegisterMapper cannot be undone.
var errDriver = errors.New("driver")

func TestFrom_MapperOrder(t *testing.T) {
	code := func(err error) *xerror.ErrorCode { return xerror.From(err).GetErrorCode() }
	err := fmt.Errorf("%w: %w", errDriver, fs.ErrNotExist)

	if got := code(err); got != xerror.NotExist && got != xerror.Locked {
		t.Errorf("no mapper: %v, want NOT_EXIST", got)
	}
	xerror.RegisterMapper(nil, xerror.MapIs(errDriver, xerror.Pending),
		xerror.MapIs(errDriver, xerror.Gone))
	if got := code(err); got != xerror.Pending {
		t.Errorf("with a driver: %v, want PENDING, the first mapper of the call", got)
	}
	xerror.RegisterMapper(xerror.MapIs(errDriver, xerror.Locked))
	if got := code(err); got != xerror.Locked {
		t.Errorf("with a later driver: %v, want LOCKED", got)
	}
	first := xerror.RegisterApplicationMapper(nil, xerror.MapIs(errDriver, xerror.Disabled))
	second := xerror.RegisterApplicationMapper(xerror.MapIs(errDriver, xerror.Rejected))
	if got := code(err); got != xerror.Rejected {
		t.Errorf("with the application: %v, want REJECTED, the latest", got)
	}
	second()
	if got := code(err); got != xerror.Disabled {
		t.Errorf("after one removal: %v, want DISABLED", got)
	}
	second()
	first()
	if got := code(err); got != xerror.Locked {
		t.Errorf("after all removals: %v, want LOCKED", got)
	}
	err = fmt.Errorf("%w: %w", errDriver, xerror.New(xerror.Conflict, ""))
	if got := code(err); got != xerror.Conflict {
		t.Errorf("error with a code: %v, want CONFLICT", got)
	}
}

func TestRegisterApplicationMapper(t *testing.T) {
	t.Run("is safe for concurrent use", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 200 {
					remove := xerror.RegisterApplicationMapper(
						xerror.MapIs(errForeign, xerror.Gone))
					if got := xerror.From(errForeign).GetErrorCode(); got != xerror.Gone {
						t.Errorf("code %v, want GONE", got)
					}
					remove()
				}
			})
		}
		wg.Wait()
		if got := xerror.From(errForeign).GetErrorCode(); got != xerror.ServerInternalError {
			t.Errorf("code %v after all mappers were removed, want SERVER_INTERNAL_ERROR", got)
		}
	})

	t.Run("accepts mappers that call From", func(t *testing.T) {
		defer xerror.RegisterApplicationMapper(func(err error) *xerror.ErrorCode {
			var f *foreignError
			if !errors.As(err, &f) {
				return nil
			}
			return xerror.From(fs.ErrExist).GetErrorCode()
		})()
		if got := xerror.From(&foreignError{1}).GetErrorCode(); got != xerror.Existed {
			t.Errorf("code %v, want EXISTED", got)
		}
	})
}
