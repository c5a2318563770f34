package xerror

import "strings"

// JavaTable returns the Java library's codes by name.
func JavaTable() map[string]int {
	table := map[string]int{}
	for _, c := range javaCodes {
		table[c.name()] = c.number
	}
	return table
}

// JavaLabels returns the labels of the Java library's codes by name.
func JavaLabels() map[string]string {
	table := map[string]string{}
	for _, c := range javaCodes {
		table[c.name()] = c.label
	}
	return table
}

// JavaAliases returns the Java code that each code of another name becomes.
func JavaAliases() map[string]string {
	table := map[string]string{}
	for _, c := range javaCodes {
		for _, alias := range strings.Fields(c.names)[1:] {
			table[alias] = c.name()
		}
	}
	return table
}

func (c javaCode) name() string { return strings.Fields(c.names)[0] }

// MustRegistered returns the code with a number, registered now or, where -count repeats
// a test, before.
func MustRegistered(number int, output string) *ErrorCode {
	if c := LookupCode(number); c != nil {
		return c
	}
	return MustErrorCode(number, output, "A code of the tests", "测试")
}
