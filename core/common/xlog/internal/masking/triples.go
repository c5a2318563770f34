package masking

// codes maps letters of either case to 1 to 26, separators to codeSeparator, and other
// bytes to 0.
var codes = func() (set [256]uint8) {
	for c := range byte(26) {
		set['a'+c], set['A'+c] = c+1, c+1
	}
	for _, c := range []byte(separators) {
		set[c] = codeSeparator
	}
	return set
}()

const codeSeparator = 27

// triples is a bit set of three consecutive characters, with five bits per character.
type triples [1 << 15 / 64]uint64

// addStart adds the first three letters of a word, with and without separators between
// them.
func (t *triples) addStart(word string) {
	const s = codeSeparator
	a, b, c := uint(codes[word[0]]), uint(codes[word[1]]), uint(codes[word[2]])
	for _, last := range []uint{b<<5 | c, b<<5 | s, s<<5 | b, s<<5 | s} {
		at := a<<10 | last
		t[at/64] |= 1 << (at % 64)
	}
}

// matches reports whether text contains three consecutive characters of the set.
func (t *triples) matches(text string) bool {
	at := uint(0)
	for i := range len(text) {
		at = (at<<5 | uint(codes[text[i]])) % (1 << 15)
		if t[at/64]>>(at%64)&1 != 0 {
			return true
		}
	}
	return false
}
