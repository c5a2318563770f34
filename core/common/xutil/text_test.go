package xutil_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/common/xutil"
)

func TestStrings_Mask(t *testing.T) {
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

func TestStrings_Truncate(t *testing.T) {
	s := xutil.Str()
	for n, want := range map[int]string{
		-1: "", 0: "", 1: "你", 2: "你a", 3: "你a好", 4: "你a好", 99: "你a好",
	} {
		if got := s.Truncate("你a好", n); got != want {
			t.Errorf("Truncate(%d) = %q, want %q", n, got, want)
		}
	}
}

func FuzzStrings(f *testing.F) {
	f.Add("你a好😀", 2, 1)
	f.Fuzz(func(t *testing.T, in string, a, b int) {
		s := xutil.Str()
		if a > 1<<20 || !utf8.ValidString(in) {
			t.Skip()
		}
		for _, out := range []string{s.Mask(in, a, b), s.Truncate(in, a)} {
			if !utf8.ValidString(out) {
				t.Errorf("result of %q is invalid UTF-8: %q", in, out)
			}
		}
		if got := s.Mask(in, a, b); utf8.RuneCountInString(got) != utf8.RuneCountInString(in) {
			t.Errorf("Mask(%q) = %q, want the same length", in, got)
		}
	})
}

func TestStrings_IsBlank(t *testing.T) {
	for in, want := range map[string]bool{"": true, " \t\n\u3000": true, " x ": false} {
		if got := xutil.Str().IsBlank(in); got != want {
			t.Errorf("IsBlank(%q) = %v, want %v", in, got, want)
		}
	}
}

func TestTimes_Parse(t *testing.T) {
	tm := xutil.Timer()
	shanghai := time.FixedZone("CST", 8*3600)
	for in, want := range map[string]time.Time{
		"2024-02-29T13:05:09.5+02:00": time.Date(2024, 2, 29, 11, 5, 9, 5e8, time.UTC),
		" 2024-02-29 13:05:09 ":       time.Date(2024, 2, 29, 13, 5, 9, 0, shanghai),
		"2024-02-29":                  time.Date(2024, 2, 29, 0, 0, 0, 0, shanghai),
	} {
		if got, err := tm.Parse(in, shanghai); !got.Equal(want) || err != nil {
			t.Errorf("Parse(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	if got, err := tm.Parse("2024-02-29", nil); got.Location() != time.UTC || err != nil {
		t.Errorf("Parse without a location = %v, %v", got, err)
	}
	for _, in := range []string{"", "x", "2024-02-30", "29.02.2024", "2024-02-29 25:00:00"} {
		if _, err := tm.Parse(in, nil); !errors.Is(err, xutil.ErrParse) {
			t.Errorf("Parse(%q) = %v, want ErrParse", in, err)
		}
	}
	if now := tm.Now(); now.Location() != time.UTC || now.Nanosecond()%1000 != 0 ||
		time.Since(now).Abs() > time.Minute {
		t.Errorf("Now = %v", now)
	}
}

func TestChecks(t *testing.T) {
	v := xutil.Valid()
	for _, tc := range []struct {
		name    string
		check   func(string) bool
		valid   []string
		invalid []string
	}{
		{
			name: "Email", check: v.Email,
			valid: []string{"a@b.co", "first.last+tag@sub.example.org", "用户@例子.中国"},
			invalid: []string{
				"", "a", "@b.co", "a@", "a@b", "a@b.", "a@.b", "A <a@b.co>",
				"a@b.co, c@d.co", " a@b.co", "a@b.co\r\nBcc: x@y.z",
				strings.Repeat("a", 250) + "@b.co",
			},
		},
		{
			name: "URL", check: v.URL,
			valid: []string{"http://a", "https://example.org:8443/x?y=1#z", "http://[::1]:80/"},
			invalid: []string{
				"", "a", "//a", "/a", "ftp://a", "javascript:alert(1)", "http://",
				"http:///x", "http://:80", "http://a b",
			},
		},
		{
			name: "UUID", check: v.UUID,
			valid: []string{
				xutil.UUID().V4(), xutil.UUID().V7(), strings.ToUpper(xutil.UUID().V7()),
				"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
			},
			invalid: []string{
				"", "x", strings.Repeat("0", 32), strings.Repeat("0", 36),
				"{00000000-0000-0000-0000-000000000000}", "0000000g-0000-0000-0000-000000000000",
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, s := range tc.valid {
				if !tc.check(s) {
					t.Errorf("%q is rejected", s)
				}
			}
			for _, s := range tc.invalid {
				if tc.check(s) {
					t.Errorf("%q is accepted", s)
				}
			}
		})
	}
}

func ExampleStr() {
	fmt.Println(xutil.Str().Mask("张三丰先生", 1, 1), xutil.Str().Truncate("你好世界", 2))
	// Output: 张***生 你好
}
