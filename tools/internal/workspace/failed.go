package workspace

import (
	"bytes"
	"strings"
)

// Failed repeats which tests failed, a line each, for the end of a report: what the tests
// print before it can be long.
func Failed(output []byte) string {
	var b strings.Builder
	for line := range bytes.Lines(output) {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("--- FAIL: ")) {
			b.Write(line)
		}
	}
	return b.String()
}
