package xerror_test

import (
	"fmt"
	"io"
	"testing"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xLog "github.com/plinthgo/plinth/core/common/xlog"
)

func TestAnErrorKnowsWhetherItWasLogged(t *testing.T) {
	quiet, err := xLog.New(xLog.Config{Writer: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	ctx := xLog.NewContext(t.Context(), quiet)
	var none *xError.Error
	for _, tc := range []struct {
		name string
		err  *xError.Error
		want bool
	}{
		{name: "thrown", err: xError.NewError(ctx, xError.NotFound, "", true), want: true},
		{name: "not thrown", err: xError.NewError(ctx, xError.NotFound, "", false), want: false},
		{name: "thrown with data", err: xError.NewErrorHasData(ctx, xError.NotFound, "", true, nil, 1), want: true},
		{name: "internal", err: xError.NewInternalServerError(ctx, "", io.EOF), want: true},
		{name: "wrapped", err: xError.From(fmt.Errorf("find: %w", xError.NewError(ctx, xError.NotFound, "", true))), want: true},
		{name: "plain", err: xError.Wrap(xError.NotFound, "", io.EOF), want: false},
		{name: "nil", err: none, want: false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.err.Logged(); got != tc.want {
				t.Errorf("Logged = %t, want %t", got, tc.want)
			}
		})
	}
}
