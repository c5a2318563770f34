package xlog

import (
	"strings"
	"testing"
)

func TestASCIIIsToldFromTheRestAtEveryPlace(t *testing.T) {
	for n := range 45 {
		text := []byte(strings.Repeat("a0._-~Z !#[]", 4)[:n])
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
