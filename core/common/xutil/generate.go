package xutil

import (
	"crypto/rand"
	"math/big"
)

const (
	digitChars  = "0123456789"
	letterChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Generator generates random strings. See Generate.
type Generator struct{}

// Generate returns the Generator group. Its strings come from crypto/rand, and all
// characters of the alphabet are equally likely. If the length is below 1, the string is
// empty.
func Generate() Generator { return Generator{} }

// Digits returns n characters of 0-9.
func (Generator) Digits(n int) string { return randomString(digitChars, n) }

// Letters returns n characters of A-Z and a-z.
func (Generator) Letters(n int) string { return randomString(letterChars, n) }

// Alphanumeric returns n characters of 0-9, A-Z and a-z.
func (Generator) Alphanumeric(n int) string { return randomString(digitChars+letterChars, n) }

func randomString(alphabet string, n int) string {
	text := make([]byte, max(n, 0))
	for i := range text {
		index, _ := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet)))) // never fails
		text[i] = alphabet[index.Int64()]
	}
	return string(text)
}
