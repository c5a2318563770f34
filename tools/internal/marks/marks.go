// Package marks replaces generated parts of files between two marks.
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

// Put replaces the text between the marks of a name. The file must contain both marks
// exactly once.
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
		return "", errors.New("the marks of " + name + " must occur exactly once")
	}
	head, rest, _ := strings.Cut(whole, begin)
	mark, body, closed := strings.Cut(rest, " -->\n")
	_, tail, ended := strings.Cut(body, end)
	if !closed || !ended {
		return "", errors.New("the mark of " + name +
			" must be on a separate line before its end mark")
	}
	return head + begin + mark + " -->\n" + text + end + tail, nil
}
