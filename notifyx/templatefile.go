package notifyx

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

const (
	// maxTemplate limits the text of one part, and maxVariables the JSON of all
	// variables.
	maxTemplate, maxVariables = 1 << 20, 1 << 20
	// maxOutput limits a rendered part.
	maxOutput = 1 << 20
)

// readFiles reads the files that match a pattern and joins their errors.
func readFiles(fsys fs.FS, pattern string) ([]partFile, error) {
	paths, err := fs.Glob(fsys, pattern)
	if err != nil {
		return nil, &templateError{
			origin: fmt.Sprintf("pattern %q", pattern), problem: err.Error(), cause: err,
		}
	}
	var files []partFile
	var problems []error
	for _, p := range paths {
		info, err := fs.Stat(fsys, p)
		if err == nil && info.IsDir() {
			continue
		}
		f, err := readFile(fsys, p)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		files = append(files, f)
	}
	if len(files) == 0 && len(problems) == 0 {
		return nil, &templateError{
			origin:  fmt.Sprintf("pattern %q", pattern),
			problem: "no file matches",
		}
	}
	return files, errors.Join(problems...)
}

func readFile(fsys fs.FS, name string) (partFile, error) {
	f, err := parseFileName(name)
	if err != nil {
		return f, err
	}
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return f, &templateError{origin: name, problem: err.Error(), cause: err}
	}
	f.text = string(text)
	if at := strings.Index(f.text, "{{"); f.syntax == SyntaxVariables && at >= 0 {
		return f, withPosition(name, position(f.text, at)+
			`: "{{" is not supported without .tmpl: add .tmpl to the file's name for a Go template`)
	}
	return f, nil
}

// parseFileName parses NAME[.LANGUAGE].PART[.tmpl].
func parseFileName(name string) (f partFile, err error) {
	base, isGo := strings.CutSuffix(path.Base(name), ".tmpl")
	words := strings.Split(base, ".")
	if len(words) < 2 || len(words) > 3 {
		return f, &templateError{
			origin:  name,
			problem: "a file is named NAME[.LANGUAGE].(subject|txt|html)[.tmpl]",
		}
	}
	f = partFile{origin: name, name: words[0], part: Part(words[len(words)-1])}
	if isGo {
		f.syntax = SyntaxGo
	}
	if len(words) == 3 {
		if f.tag, err = parseTag(words[1]); words[1] == "" || err != nil {
			return f, &templateError{
				origin:  name,
				problem: fmt.Sprintf("%q is not a BCP 47 language tag", words[1]),
			}
		}
	}
	return f, nil
}

// validName reports whether name is a valid template name: 1 to 100 of [A-Za-z0-9_-].
func validName(name string) bool {
	return len(name) >= 1 && len(name) <= 100 && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' &&
			r != '-'
	})
}
