package xutil

import (
	"crypto/rand"
	"math/big"
)

// The alphabets of the random texts.
const (
	digitChars  = "0123456789"
	letterChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Generator makes random texts; get it with Generate.
type Generator struct{}

// Generate returns the group that makes random texts. They come from crypto/rand, every
// character of the alphabet is equally likely, and a length below 1 gives the empty text.
func Generate() Generator { return Generator{} }

// Digits returns n of 0 to 9.
func (Generator) Digits(n int) string { return randomText(digitChars, n) }

// Letters returns n of A to Z and a to z.
func (Generator) Letters(n int) string { return randomText(letterChars, n) }

// Alphanumeric returns n of 0 to 9, A to Z and a to z.
func (Generator) Alphanumeric(n int) string { return randomText(digitChars+letterChars, n) }

func randomText(alphabet string, n int) string {
	text := make([]byte, max(n, 0))
	for i := range text {
		at, _ := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet)))) // never fails
		text[i] = alphabet[at.Int64()]
	}
	return string(text)
}
