package xlog

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

func TestIsASCII(t *testing.T) {
	for n := range 45 {
		text := []byte(strings.Repeat("a0._-+Z !#[]", 4)[:n])
		for i := range n {
			for b := range 256 {
				old := text[i]
				text[i] = byte(b)
				if got := isASCII(text); got != (b < 0x80) {
					t.Fatalf("isASCII(%q) = %v", text, got)
				}
				text[i] = old
			}
		}
	}
}

// Access lines and the head of every other line are encoded without zerolog. The result
// must equal that of zerolog.
func TestAppendText(t *testing.T) {
	var want bytes.Buffer
	log := zerolog.New(&want)
	for n := range 21 {
		text := []byte(strings.Repeat("a0._-+Z !#[]", 2)[:n])
		for i := range n {
			old := text[i]
			for b := range 0x80 {
				text[i] = byte(b)
				want.Reset()
				log.Log().Str("k", string(text)).Send()
				got := string(appendText([]byte(`{"k":`), string(text))) + "}\n"
				if got != want.String() {
					t.Fatalf("appendText(%q) = %s, want %s", text, got, want.String())
				}
			}
			text[i] = old
		}
	}
}
