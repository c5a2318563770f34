package xerror

import "maps"

// Negotiate is Language for a header.
func Negotiate(header string) string { return negotiate(header) }

// NegotiateSlowly is Negotiate without the fast path.
func NegotiateSlowly(header string) string { return parse(header) }

// JavaTable returns the Java library's codes by name.
func JavaTable() map[string]int {
	table := map[string]int{}
	for _, c := range javaCodes {
		table[c.name] = c.number
	}
	return table
}

// JavaSynonyms returns the table of synonyms.
func JavaSynonyms() map[string]string { return maps.Clone(javaSynonyms) }

// MustRegistered returns the code with a number, registered now or, where -count repeats a test, before.
func MustRegistered(number int, output string) *ErrorCode {
	if c := LookupCode(number); c != nil {
		return c
	}
	return MustErrorCode(number, output, "A code of the tests", "测试")
}
