package jsonenc

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEveryByteAtEveryPlaceIsEscapedAsByEncodingJSON(t *testing.T) {
	for n := range 21 {
		text := []byte(strings.Repeat("a0._-+Z !#[]", 2)[:n])
		for i := range n {
			old := text[i]
			for b := range 256 {
				text[i] = byte(b)
				encoded, err := json.Marshal(string(text))
				if err != nil {
					t.Fatal(err)
				}
				want := replacement.Replace(string(encoded))
				if got := new(Encoder).AppendString(nil, string(text)); string(got) != want {
					t.Fatalf("AppendString(%q) = %s, want %s", text, got, want)
				}
				if isPlain(string(text)) != (want == `"`+string(text)+`"`) {
					t.Fatalf("isPlain(%q) is wrong", text)
				}
				if IsSafe(string(text)) != !strings.ContainsFunc(string(text), isUnsafe) {
					t.Fatalf("IsSafe(%q) is wrong", text)
				}
			}
			text[i] = old
		}
	}
}

func isUnsafe(c rune) bool { return c < ' ' || c > '}' || strings.ContainsRune(`"&<>\^|`, c) }
