package xerror

import "strings"

// JavaTable returns the numbers of the Java codes by name.
func JavaTable() map[string]int {
	table := map[string]int{}
	for _, c := range javaCodes {
		table[c.name()] = c.number
	}
	return table
}

// JavaLabels returns the labels of the Java codes by name.
func JavaLabels() map[string]string {
	table := map[string]string{}
	for _, c := range javaCodes {
		table[c.name()] = c.label
	}
	return table
}

// JavaAliases returns the name of the Java code for each code with another name.
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

// MustRegistered returns the code with the given number. It registers the code unless a
// previous run of the test (-count) did.
func MustRegistered(number int, output string) *ErrorCode {
	if c := LookupCode(number); c != nil {
		return c
	}
	return MustErrorCode(number, output, "A test code", "测试")
}
