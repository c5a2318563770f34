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

// Part is one of the texts that a template consists of.
type Part string

// The parts, under the extensions that their files have.
const (
	PartSubject Part = "subject" // one line
	PartText    Part = "txt"     // plain text
	PartHTML    Part = "html"    // escaped by context
)

// Syntax is the language that a part is written in.
type Syntax int

const (
	// SyntaxVariables replaces ${name} and ${user.name}; "$${" writes "${". Nothing else
	// has a meaning.
	SyntaxVariables Syntax = iota
	// SyntaxGo is that of text/template, or of html/template for an HTML part, without
	// functions beyond the predefined ones. A part runs a shared template, such as a
	// layout, by {{template "_layout" .}}; see Templates.AddFS.
	SyntaxGo
)

// partKey has the canonical form of a language, or "".
type partKey struct {
	language string
	part     Part
}

// partFile is a part that is to be added.
type partFile struct {
	origin string // names it in errors
	name   string
	tag    language.Tag // language.Und for none
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

// srcdoc is an attribute that html/template escapes as any other, although its value is
// read as HTML once more.
var srcdoc = regexp.MustCompile(`(?i)\bsrcdoc\s*=`)

// check finds what is wrong with a part before it is read.
func (f *partFile) check() error {
	var problems []error
	for _, rule := range []struct {
		broken bool
		text   string
	}{
		{!validName(f.name), "a template's name is 1 to 100 of A-Z, a-z, 0-9, _ and -"},
		{
			!slices.Contains([]Part{PartSubject, PartText, PartHTML}, f.part),
			fmt.Sprintf("%q is no part: they are subject, txt and html", string(f.part)),
		},
		{
			!slices.Contains([]Syntax{SyntaxVariables, SyntaxGo}, f.syntax),
			fmt.Sprintf("%d is no syntax", int(f.syntax)),
		},
		{
			f.syntax == SyntaxVariables && f.shared(),
			"a shared template, whose name begins with _, is a Go template: add .tmpl to the file's name",
		},
		{len(f.text) > maxTemplate, fmt.Sprintf("the text is longer than %d bytes", maxTemplate)},
		{
			!utf8.ValidString(f.text) || strings.ContainsRune(f.text, 0),
			"the text is not valid UTF-8, or has a NUL",
		},
	} {
		if rule.broken {
			problems = append(problems, errors.New(rule.text))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return &templateError{where: f.origin, what: err.Error()}
	}
	if at := srcdoc.FindStringIndex(f.text); f.part == PartHTML && at != nil {
		return placed(f.origin, position(f.text, at[0])+
			": srcdoc is a document within an attribute, whose values nothing escapes")
	}
	return nil
}

// parse returns the templates of the file, and the paths of ${name} in it.
func (f *partFile) parse() (t *texttemplate.Template, paths []string, err error) {
	text := f.text
	if f.part == PartSubject {
		text = strings.TrimSpace(text) // the line end of the file
	}
	t = texttemplate.New(f.origin).Funcs(functions)
	if f.syntax == SyntaxVariables {
		if text, paths, err = translate(text); err != nil {
			return nil, nil, placed(f.origin, err.Error())
		}
		t.Delims(leftDelim, rightDelim)
	}
	if _, err := t.Parse(text); err != nil {
		return nil, nil, placed(f.origin, reason(err, f.origin))
	}
	return t, paths, nil
}

// part is a compiled text. It is safe for concurrent use.
type part struct {
	paths    []string // of ${name}
	template interface {
		Execute(w io.Writer, data any) error
	}
}

// compile reads a part, which may run the shared templates. The error is an ErrTemplate
// that names the place.
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
		return nil, placed(f.origin, reason(err, f.origin))
	}
	return p, nil
}

func (p *part) render(variables map[string]any) (string, error) {
	if err := checkPaths(p.paths, variables); err != nil {
		return "", err
	}
	var out limited
	if err := p.template.Execute(&out, variables); err != nil {
		return "", explain(err)
	}
	return out.String(), nil
}

// escapeNow makes html/template look for the contexts, which it does at the first
// execution.
func escapeNow(t *htmltemplate.Template) error {
	err := t.Execute(refuse{}, nil)
	if e, ok := errors.AsType[*htmltemplate.Error](err); ok {
		return e
	}
	return nil // it went as far as a value or a text
}

// refuse is a writer that fails.
type refuse struct{}

// Write implements io.Writer.
func (refuse) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// limited keeps what is written, up to maxOutput.
type limited struct{ strings.Builder }

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxOutput {
		return 0, errTooLong
	}
	return l.Builder.Write(p)
}

// WriteString implements io.StringWriter.
func (l *limited) WriteString(s string) (int, error) {
	if l.Len()+len(s) > maxOutput {
		return 0, errTooLong
	}
	return l.Builder.WriteString(s)
}
