package workspace

import (
	"bytes"
	"strings"
)

// Failed returns the lines of failed tests in the output, for the end of a long report.
func Failed(output []byte) string {
	var b strings.Builder
	for line := range bytes.Lines(output) {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("--- FAIL: ")) {
			b.Write(line)
		}
	}
	return b.String()
}
