package xbase

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEveryByteAtEveryPlaceIsEscapedAsByEncodingJSON(t *testing.T) {
	for n := range 21 {
		text := []byte(strings.Repeat("a0._-~Z !#[]", 2)[:n])
		for i := range n {
			old := text[i]
			for b := range 256 {
				text[i] = byte(b)
				encoded, err := json.Marshal(string(text))
				if err != nil {
					t.Fatal(err)
				}
				want := replacement.Replace(string(encoded))
				if got := appendString(nil, string(text)); string(got) != want {
					t.Fatalf("appendString(%q) = %s, want %s", text, got, want)
				}
				if plain := isPlain(text); plain && want != `"`+string(text)+`"` {
					t.Fatalf("isPlain(%q) is true", text)
				}
			}
			text[i] = old
		}
	}
}
