// Package marks replaces what a program writes into a file that people write too: the
// part between two marks.
//
//	<!-- NAME: written by `make bench-docs` -->
//	...
//	<!-- /NAME -->
package marks

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Put replaces what stands between the marks of that name in the file. The file has to
// have both, once.
func Put(file, name, text string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	whole, err := replace(string(data), name, text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(whole), 0o644)
}

func replace(whole, name, text string) (string, error) {
	begin, end := "<!-- "+name+": ", "<!-- /"+name+" -->\n"
	if strings.Count(whole, begin) != 1 || strings.Count(whole, end) != 1 {
		return "", errors.New("the marks of " + name + " are not there once each")
	}
	head, rest, _ := strings.Cut(whole, begin)
	mark, body, closed := strings.Cut(rest, " -->\n")
	_, tail, ended := strings.Cut(body, end)
	if !closed || !ended {
		return "", errors.New("the mark of " + name +
			" is no line of its own, or its end comes first")
	}
	return head + begin + mark + " -->\n" + text + end + tail, nil
}
