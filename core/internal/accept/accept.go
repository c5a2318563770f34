// Package accept parses weighted request headers such as Accept and Accept-Language.
package accept

import (
	"iter"
	"strconv"
	"strings"
)

// MaxWeight is the maximum weight, 1, in thousandths.
const MaxWeight = 1000

// Elements returns the elements of a header in order, with their weights in thousandths
// (RFC 9110, section 12.4.2). A malformed weight counts as 0, so the client does not
// receive that element.
func Elements(header string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for element := range strings.SplitSeq(header, ",") {
			value, parameters, _ := strings.Cut(element, ";")
			if !yield(strings.Trim(value, " \t"), weight(parameters)) {
				return
			}
		}
	}
}

func weight(parameters string) int {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(strings.Trim(name, " \t"), "q") {
			return thousandths(strings.Trim(value, " \t"))
		}
	}
	return MaxWeight
}

// thousandths parses a qvalue: a number from 0 to 1 with at most three decimals.
func thousandths(value string) int {
	whole, decimals, _ := strings.Cut(value, ".")
	if len(decimals) > 3 || whole != "0" && whole != "1" ||
		strings.Trim(decimals, "0123456789") != "" {
		return 0
	}
	weight, _ := strconv.Atoi(whole + (decimals + "000")[:3])
	return min(weight, MaxWeight)
}
