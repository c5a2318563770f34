package xutil

import "crypto/rand"

// The alphabets of the random texts.
const (
	digitChars  = "0123456789"
	letterChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Generator makes random texts; get it with Generate.
type Generator struct{}

// Generate returns the group that makes random texts. They come from crypto/rand, every character of the
// alphabet is equally likely, and a length below 1 gives the empty text.
func Generate() Generator { return Generator{} }

// Digits returns n of 0 to 9.
func (Generator) Digits(n int) string { return randomText(digitChars, n) }

// Letters returns n of A to Z and a to z.
func (Generator) Letters(n int) string { return randomText(letterChars, n) }

// Alphanumeric returns n of 0 to 9, A to Z and a to z.
func (Generator) Alphanumeric(n int) string { return randomText(digitChars+letterChars, n) }

// randomText drops the bytes above the greatest multiple of the alphabet's length: a remainder of them
// would favour the first characters.
func randomText(alphabet string, n int) string {
	if n < 1 {
		return ""
	}
	limit := 256 - 256%len(alphabet)
	text := make([]byte, 0, n)
	buf := make([]byte, n+n/4+8)
	for {
		_, _ = rand.Read(buf) // never fails
		for _, b := range buf {
			if int(b) >= limit {
				continue
			}
			if text = append(text, alphabet[int(b)%len(alphabet)]); len(text) == n {
				return string(text)
			}
		}
	}
}
