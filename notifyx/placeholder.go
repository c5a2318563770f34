package notifyx

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Delimiters of the template generated from ${name} placeholders. Template text cannot
// contain NUL, so it cannot contain the delimiters, and "{{" is literal text.
const leftDelim, rightDelim = "\x00{", "}\x00"

// translate converts a text with ${name} placeholders to a template with leftDelim and
// rightDelim, and returns the paths of the placeholders. The error starts with the
// position.
func translate(text string) (template string, paths []string, err error) {
	var out strings.Builder
	for rest := text; ; {
		literal, after, found := strings.Cut(rest, "${")
		if !found {
			out.WriteString(rest)
			return out.String(), paths, nil
		}
		if before, escaped := strings.CutSuffix(literal, "$"); escaped {
			out.WriteString(before + "${")
			rest = after
			continue
		}
		out.WriteString(literal)
		path, err := parsePath(after)
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w",
				position(text, len(text)-len(after)-len("${")), err)
		}
		paths = append(paths, path)
		out.WriteString(leftDelim + "index .")
		for name := range strings.SplitSeq(path, ".") {
			out.WriteString(" " + strconv.Quote(name))
		}
		out.WriteString(rightDelim)
		rest = after[len(path)+len("}"):]
	}
}

// position formats an offset as line:column, both from 1; the column counts characters.
func position(text string, offset int) string {
	before := text[:offset]
	line := strings.Count(before, "\n")
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("%d:%d", line+1, column+1)
}

// parsePath parses the path after "${".
func parsePath(text string) (string, error) {
	end := strings.IndexFunc(text, func(r rune) bool { return !nameRune(r) && r != '.' })
	switch {
	case end < 0:
		return "", errors.New("\"${\" has no \"}\"")
	case text[end] != '}':
		return "", errors.New(
			"\"${\" is not followed by a name; \"$${\" writes \"${\"")
	}
	for segment := range strings.SplitSeq(text[:end], ".") {
		if segment == "" {
			return "", fmt.Errorf("an empty name in \"${%s}\"", text[:end])
		}
	}
	return text[:end], nil
}

func nameRune(r rune) bool {
	return r == '_' || r == '-' || r != utf8.RuneError &&
		(unicode.IsLetter(r) || unicode.IsDigit(r))
}

// checkPaths returns a MissingVariablesError with every path that has no value. If all
// paths have values, it returns an error for each value that is an object or a list.
func checkPaths(paths []string, variables map[string]any) error {
	missing := &MissingVariablesError{}
	var problems []error
	for _, path := range paths {
		var value any = variables
		for name := range strings.SplitSeq(path, ".") {
			members, _ := value.(map[string]any)
			value = members[name]
		}
		switch value.(type) {
		case nil:
			missing.add(path)
		case map[string]any, []any:
			problems = append(problems,
				fmt.Errorf("variable %q is an object or a list, not text", path))
		}
	}
	if len(missing.Variables) > 0 {
		return missing
	}
	return errors.Join(problems...)
}
