package xerror_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

func newRequest(ctx context.Context, header string) *xctx.Request {
	r := xctx.NewRequest(ctx, nil)
	r.SetAcceptLanguage(header)
	return r
}

func TestLanguage(t *testing.T) {
	t.Run("follows the Accept-Language header", func(t *testing.T) {
		for _, tc := range []struct {
			header string
			want   string
		}{
			{"", "en"},
			{"en", "en"},
			{"zh", "zh"},
			{"ZH-cn", "zh"},
			{"zh-CN,zh;q=0.9,en;q=0.8", "zh"},
			{"en-GB,en;q=0.9,zh;q=0.8", "en"},
			{" zh , en", "zh"},
			{"zh;q=1.0, en", "zh"},
			{"zh;q=0.8, en;q=0.9", "en"},
			{"en;q=0.8, zh;q=0.9", "zh"},
			{"en;q=0.1,zh", "zh"},
			{"en;q=0, zh;q=0.1", "zh"},
			{"zh;q=0", "en"},
			{"zh;q=0, en;q=0", "en"},
			{"fr", "en"},
			{"fr, zh;q=0.1", "zh"},
			{"fr-CH, fr;q=0.9, en;q=0.8, zh;q=0.7", "en"},
			{"*", "en"},
			{"en;q=0, *", "zh"},
			{"en;q=0.1, *", "zh"},
			{"fr, *;q=0.8, zh;q=0.5", "en"},
			{"zh;q=0, *", "en"},
			{"en;q=0, zh;q=0, *", "en"},
			{"zh-Hant-TW", "zh"},
			{"zh-TW;q=0.9", "zh"},
			{"cmn-Hans-CN", "zh"},
			{"zho", "zh"},
			{"eng;q=0.5", "en"},
			{"zhx", "en"},
			{"de;q=abc, zh", "zh"},
			{"!!", "en"},
			{";;;", "en"},
			{",", "en"},
			{"zh" + strings.Repeat(", fr", 1000), "zh"},
			{strings.Repeat("fr, ", 1000) + "zh", "en"},
			{strings.Repeat("-", 100_000), "en"},
		} {
			if got := xerror.Language(newRequest(t.Context(), tc.header)); got != tc.want {
				t.Errorf("%.60q: %s, want %s", tc.header, got, tc.want)
			}
		}
	})

	t.Run("is English without a request", func(t *testing.T) {
		if got := xerror.Language(t.Context()); got != "en" {
			t.Errorf("no request: %s", got)
		}
		if got := xerror.Language(nil); got != "en" { //nolint:staticcheck // nil is supported
			t.Errorf("nil context: %s", got)
		}
	})

	t.Run("does not allocate for common headers", func(t *testing.T) {
		for _, header := range []string{"", "en", "zh-CN,zh;q=0.9,en;q=0.8", "en-US,en;q=0.5"} {
			r := newRequest(t.Context(), header)
			if got := testing.AllocsPerRun(100, func() { xerror.Language(r) }); got != 0 {
				t.Errorf("%q: %v allocations, want 0", header, got)
			}
		}
	})
}

func FuzzLanguage(f *testing.F) {
	for _, header := range []string{"", "zh", "en;q=0, *", "a-b-c;q=0.5", "zh;q=,", "*;q=x"} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if got := xerror.Language(newRequest(t.Context(), header)); got != "en" && got != "zh" {
			t.Errorf("%q: %q", header, got)
		}
	})
}

func BenchmarkLanguage(b *testing.B) {
	for i, header := range []string{"", "zh-CN,zh;q=0.9,en;q=0.8", "fr-FR,fr;q=0.9,en;q=0.8"} {
		r := newRequest(b.Context(), header)
		b.Run(fmt.Sprint(i), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				xerror.Language(r)
			}
		})
	}
}
