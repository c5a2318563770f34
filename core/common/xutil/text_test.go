package xutil_test

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/common/xutil"
)

func TestMaskHidesTheMiddleAndCutsNoCharacter(t *testing.T) {
	for _, tc := range []struct {
		name, in   string
		start, end int
		want       string
	}{
		{name: "phone", in: "13800138000", start: 3, end: 4, want: "138****8000"},
		{name: "Chinese", in: "张三丰先生", start: 1, end: 1, want: "张***生"},
		{name: "emoji", in: "a😀b", start: 1, end: 1, want: "a*b"},
		{name: "too short", in: "abc", start: 2, end: 1, want: "***"},
		{name: "much too short", in: "a", start: 3, end: 4, want: "*"},
		{name: "empty", in: "", start: 1, end: 1, want: ""},
		{name: "negative", in: "abc", start: -1, end: -5, want: "***"},
		{name: "overflow", in: "abc", start: 1<<63 - 1, end: 1<<63 - 1, want: "***"},
		{name: "start only", in: "abc", start: 1, want: "a**"},
		{name: "end only", in: "abc", end: 1, want: "**c"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := xutil.Str().Mask(tc.in, tc.start, tc.end); got != tc.want {
				t.Errorf("Mask = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTruncateCutsNoCharacter(t *testing.T) {
	s := xutil.Str()
	for n, want := range map[int]string{-1: "", 0: "", 1: "你", 2: "你a", 3: "你a好", 4: "你a好", 99: "你a好"} {
		if got := s.Truncate("你a好", n); got != want {
			t.Errorf("Truncate(%d) = %q, want %q", n, got, want)
		}
	}
}

func FuzzTextsStayUTF8(f *testing.F) {
	f.Add("你a好😀", 2, 1)
	f.Fuzz(func(t *testing.T, in string, a, b int) {
		s := xutil.Str()
		if a > 1<<20 || !utf8.ValidString(in) {
			t.Skip()
		}
		for _, out := range []string{s.Mask(in, a, b), s.Truncate(in, a)} {
			if !utf8.ValidString(out) {
				t.Errorf("%q became %q", in, out)
			}
		}
		if got := s.Mask(in, a, b); utf8.RuneCountInString(got) != utf8.RuneCountInString(in) {
			t.Errorf("Mask(%q) = %q, of another length", in, got)
		}
	})
}

func ExampleStr() {
	fmt.Println(xutil.Str().Mask("张三丰先生", 1, 1), xutil.Str().Truncate("你好世界", 2))
	// Output: 张***生 你好
}
