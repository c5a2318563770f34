package jsonenc

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEncoder_AppendString(t *testing.T) {
	t.Run("escapes every byte at every position like encoding/json", func(t *testing.T) {
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
						t.Fatalf("isPlain(%q) is incorrect", text)
					}
					if IsSafe(string(text)) != !strings.ContainsFunc(string(text), isUnsafe) {
						t.Fatalf("IsSafe(%q) is incorrect", text)
					}
				}
				text[i] = old
			}
		}
	})

	t.Run("escapes special characters like encoding/json", func(t *testing.T) {
		for _, text := range []string{
			"é漢字😀", "\u2027", "\u2028", "\u2029", "\ufffd", "é\xff", "\ufffd\xff\u2028",
		} {
			encoded, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			want := replacement.Replace(string(encoded))
			if got := new(Encoder).AppendString(nil, text); string(got) != want {
				t.Errorf("AppendString(%q) = %s, want %s", text, got, want)
			}
		}
	})
}

func isUnsafe(c rune) bool { return c < ' ' || c > '}' || strings.ContainsRune(`"&<>\^|`, c) }
