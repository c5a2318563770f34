package xlog

import "bytes"

// maskJSON masks the values of such keys in a valid, compact JSON text.
func (m *maskSet) maskJSON(text []byte) []byte {
	if bytes.IndexByte(text, ':') < 0 {
		return text
	}
	var out []byte // nil as long as nothing was masked
	kept := 0      // what of text is in out
	for i := 0; i < len(text); {
		if text[i] != '"' {
			i++
			continue
		}
		end := skipString(text, i)
		if end == len(text) || text[end] != ':' || !m.has(unquote(text[i:end])) {
			i = end
			continue
		}
		out = append(append(out, text[kept:end+1]...), `"`+masked+`"`...)
		i = skipValue(text, end+1)
		kept = i
	}
	if kept == 0 {
		return text
	}
	return append(out, text[kept:]...)
}

// skipString returns the index after the string that begins at text[i].
func skipString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// skipValue returns the index after the value that begins at text[i].
func skipValue(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = skipString(text, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i // the end of what holds a number, a boolean or null
			}
			if depth == 0 {
				return i + 1
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}
