package xutil_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xutil"
)

func TestKeys(t *testing.T) {
	s := xutil.Security()
	short, long := regexp.MustCompile(`^cs_[0-9a-f]{32}$`), regexp.MustCompile(`^cs_[0-9a-f]{64}$`)
	seen := map[string]bool{}
	for range 1000 {
		a, b := s.GenerateKey(), s.GenerateLongKey()
		if !short.MatchString(a) || !long.MatchString(b) || !s.VerifyKey(a) || !s.VerifyKey(b) ||
			seen[a] || seen[b] {
			t.Fatalf("keys %q and %q", a, b)
		}
		seen[a], seen[b] = true, true
	}
	hex := strings.Repeat("0", 32)
	for _, key := range []string{
		"", "cs_", hex, "cs_" + hex[1:], "cs_" + hex + "0", "cs_" + hex[1:] + "g",
		"cs_" + hex[1:] + "A", "CS_" + hex, " cs_" + hex, "cs_" + hex + "\n",
	} {
		if s.VerifyKey(key) {
			t.Errorf("VerifyKey(%q) = true", key)
		}
	}
	if !s.Equal("a", "a") || s.Equal("a", "b") || s.Equal("a", "aa") {
		t.Error("Equal returns an incorrect result")
	}
}

func TestGenerator(t *testing.T) {
	g := xutil.Generate()
	for _, tc := range []struct {
		name string
		make func(int) string
		want int
	}{
		{name: "digits", make: g.Digits, want: 10},
		{name: "letters", make: g.Letters, want: 52},
		{name: "alphanumeric", make: g.Alphanumeric, want: 62},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.make(0) != "" || tc.make(-1) != "" || len(tc.make(1)) != 1 ||
				len(tc.make(300)) != 300 {
				t.Error("a string has an incorrect length")
			}
			count := map[rune]int{}
			for _, r := range tc.make(tc.want * 2000) {
				count[r]++
			}
			if len(count) != tc.want {
				t.Errorf("%d different characters, want %d", len(count), tc.want)
			}
			// 2000 expected, standard deviation 45; a modulo bias would be 25 % or more
			for r, n := range count {
				if n < 1700 || n > 2300 {
					t.Errorf("%q occurs %d times, want about 2000", r, n)
				}
			}
		})
	}
}

func TestDigests(t *testing.T) {
	e := xutil.Encryption()
	if got, want := e.MD5("abc"), "900150983cd24fb0d6963f7d28e17f72"; got != want {
		t.Errorf("MD5 = %s, want %s", got, want)
	}
	want := "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got := e.SHA256("abc"); got != want {
		t.Errorf("SHA256 = %s, want %s", got, want)
	}
}
