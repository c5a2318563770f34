package report_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/plinthgo/plinth/core/major/internal/report"
)

func TestList(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	wrapped := fmt.Errorf("prefix: %w", errors.Join(a, b))
	for _, tc := range []struct {
		name string
		err  error
		want int
	}{
		{name: "nil", err: nil, want: 0},
		{name: "one", err: a, want: 1},
		{name: "joined at two levels", err: errors.Join(a, errors.Join(b, a)), want: 3},
		{name: "wrapped with a prefix", err: wrapped, want: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := report.List(tc.err); len(got) != tc.want {
				t.Errorf("List = %v, want %d", got, tc.want)
			}
		})
	}
}

func TestDistinct(t *testing.T) {
	err := report.Distinct(errors.Join(errors.New("a"), errors.New("b"), errors.New("a")))
	if err == nil || err.Error() != "a\nb" {
		t.Errorf("Distinct = %v, want a and b", err)
	}
	if report.Distinct(nil) != nil {
		t.Error("Distinct(nil) is an error")
	}
}
