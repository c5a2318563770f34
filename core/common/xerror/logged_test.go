package xerror_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
)

func TestError_Logged(t *testing.T) {
	quiet, err := xlog.New(xlog.Config{Writer: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	ctx := xlog.NewContext(t.Context(), quiet)
	thrown := xerror.NewError(ctx, xerror.NotFound, "", true)
	for _, tc := range []struct {
		name string
		err  *xerror.Error
		want bool
	}{
		{name: "thrown", err: thrown, want: true},
		{name: "not thrown", err: xerror.NewError(ctx, xerror.NotFound, "", false), want: false},
		{
			name: "thrown with data",
			err:  xerror.NewErrorHasData(ctx, xerror.NotFound, "", true, nil, 1), want: true,
		},
		{name: "internal", err: xerror.NewInternalServerError(ctx, "", io.EOF), want: true},
		{name: "wrapped", err: xerror.From(fmt.Errorf("find: %w", thrown)), want: true},
		{name: "plain", err: xerror.Wrap(xerror.NotFound, "", io.EOF), want: false},
		{name: "nil", err: nil, want: false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.err.Logged(); got != tc.want {
				t.Errorf("Logged = %t, want %t", got, tc.want)
			}
		})
	}
}
