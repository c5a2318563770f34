package notifyx

import (
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io"
	"regexp"
	"slices"
	"strings"
	texttemplate "text/template"
	"unicode/utf8"

	"golang.org/x/text/language"
)

// Part is one part of a template, such as its subject.
type Part string

// Parts, named like the extensions of their files.
const (
	PartSubject Part = "subject" // a single line
	PartText    Part = "txt"     // plain text
	PartHTML    Part = "html"    // escaped by context
)

// Syntax is the template language of a part.
type Syntax int

const (
	// SyntaxVariables replaces ${name} and ${user.name}, and writes "$${" as "${". All
	// other text is literal.
	SyntaxVariables Syntax = iota
	// SyntaxGo is the syntax of text/template, or of html/template for HTML parts, with
	// the predefined functions only. A part includes a shared template, such as a layout,
	// with {{template "_layout" .}}; see Templates.AddFS.
	SyntaxGo
)

// partKey identifies a part. The language is a canonical tag or "".
type partKey struct {
	language string
	part     Part
}

// partFile is the source of a part.
type partFile struct {
	origin string // names the part in errors
	name   string
	tag    language.Tag // language.Und if not set
	part   Part
	syntax Syntax
	text   string
}

func (f *partFile) key() partKey {
	if f.tag == language.Und {
		return partKey{part: f.part}
	}
	return partKey{language: f.tag.String(), part: f.part}
}

// srcdoc matches an attribute that html/template escapes like any other, although
// browsers parse its value as HTML.
var srcdoc = regexp.MustCompile(`(?i)\bsrcdoc\s*=`)

// check validates a part before it is parsed.
func (f *partFile) check() error {
	var problems []error
	for _, rule := range []struct {
		violated bool
		text     string
	}{
		{!validName(f.name), "a template's name is 1 to 100 of A-Z, a-z, 0-9, _ and -"},
		{
			!slices.Contains([]Part{PartSubject, PartText, PartHTML}, f.part),
			fmt.Sprintf("%q is not a part: use subject, txt or html", string(f.part)),
		},
		{
			!slices.Contains([]Syntax{SyntaxVariables, SyntaxGo}, f.syntax),
			fmt.Sprintf("%d is not a syntax", int(f.syntax)),
		},
		{
			f.syntax == SyntaxVariables && f.shared(),
			"a shared template, whose name begins with _, is a Go template: " +
				"add .tmpl to the file's name",
		},
		{len(f.text) > maxTemplate, fmt.Sprintf("the text is longer than %d bytes", maxTemplate)},
		{
			!utf8.ValidString(f.text) || strings.ContainsRune(f.text, 0),
			"the text is not valid UTF-8, or has a NUL",
		},
	} {
		if rule.violated {
			problems = append(problems, errors.New(rule.text))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return &templateError{origin: f.origin, problem: err.Error()}
	}
	if at := srcdoc.FindStringIndex(f.text); f.part == PartHTML && at != nil {
		return withPosition(f.origin, position(f.text, at[0])+
			": srcdoc is not supported: html/template does not escape values in it as HTML")
	}
	return nil
}

// parse returns the templates of the file and the paths of its ${name} placeholders.
func (f *partFile) parse() (t *texttemplate.Template, paths []string, err error) {
	text := f.text
	if f.part == PartSubject {
		text = strings.TrimSpace(text) // removes the line break at the end of the file
	}
	t = texttemplate.New(f.origin).Funcs(functions)
	if f.syntax == SyntaxVariables {
		if text, paths, err = translate(text); err != nil {
			return nil, nil, withPosition(f.origin, err.Error())
		}
		t.Delims(leftDelim, rightDelim)
	}
	if _, err := t.Parse(text); err != nil {
		return nil, nil, withPosition(f.origin, reason(err, f.origin))
	}
	return t, paths, nil
}

// part is a compiled part. It is safe for concurrent use.
type part struct {
	paths    []string // paths of ${name} placeholders
	template interface {
		Execute(w io.Writer, data any) error
	}
}

// compile compiles a part and the shared templates that it includes. The error is an
// ErrTemplate with the position.
func compile(f *partFile, shared sharedFiles) (*part, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	t, paths, err := f.parse()
	if err != nil {
		return nil, err
	}
	all, err := resolve(f, t, shared)
	if err != nil {
		return nil, err
	}
	p := &part{paths: paths}
	if f.part == PartHTML {
		p.template, err = all.html(f.origin)
	} else {
		p.template, err = all.text(f.origin)
	}
	if err != nil {
		return nil, withPosition(f.origin, reason(err, f.origin))
	}
	return p, nil
}

func (p *part) render(variables map[string]any) (string, error) {
	if err := checkPaths(p.paths, variables); err != nil {
		return "", err
	}
	var out limitedBuffer
	if err := p.template.Execute(&out, variables); err != nil {
		return "", explain(err)
	}
	return out.String(), nil
}

// escapeNow makes html/template analyze the contexts now instead of at the first
// execution.
func escapeNow(t *htmltemplate.Template) error {
	err := t.Execute(failingWriter{}, nil)
	if e, ok := errors.AsType[*htmltemplate.Error](err); ok {
		return e
	}
	return nil // execution stopped at the first write, after the analysis
}

// failingWriter rejects every write.
type failingWriter struct{}

// Write implements io.Writer.
func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// limitedBuffer is a strings.Builder that stores at most maxOutput bytes.
type limitedBuffer struct{ strings.Builder }

// Write implements io.Writer.
func (l *limitedBuffer) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxOutput {
		return 0, errTooLong
	}
	return l.Builder.Write(p)
}

// WriteString implements io.StringWriter.
func (l *limitedBuffer) WriteString(s string) (int, error) {
	if l.Len()+len(s) > maxOutput {
		return 0, errTooLong
	}
	return l.Builder.WriteString(s)
}
