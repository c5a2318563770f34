package notifyx

import (
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// part is a compiled text. It is safe for concurrent use.
type part interface {
	render(v *variables) (string, error)
}

// srcdoc is an attribute that html/template escapes as any other, although its value is read as HTML once more.
var srcdoc = regexp.MustCompile(`(?i)\bsrcdoc\s*=`)

// compile reads a part, which may run the shared templates. The error is an ErrTemplate that names the place.
func compile(f *partFile, shared sharedFiles) (part, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if f.syntax == SyntaxGo {
		return compileGo(f, shared)
	}
	pieces, err := parsePieces(f.source())
	if err != nil {
		return nil, placed(f.origin, err.Error())
	}
	if f.part == PartHTML {
		return compileHTML(f, pieces)
	}
	return plainPart(pieces), nil
}

// source is the text without what only its file needs.
func (f *partFile) source() string {
	if f.part == PartSubject {
		return strings.TrimSpace(f.text) // the line end of the file
	}
	return f.text
}

// check finds what is wrong with a part before it is read.
func (f *partFile) check() error {
	if err := errors.Join(f.checkKind(), f.checkText()); err != nil {
		return &templateError{where: f.origin, what: err.Error()}
	}
	if at := srcdoc.FindStringIndex(f.text); f.part == PartHTML && at != nil {
		return placed(f.origin, position(f.text, at[0])+": srcdoc is a document within an attribute, whose values nothing escapes")
	}
	return nil
}

// checkKind looks at name, part and syntax.
func (f *partFile) checkKind() error {
	var problems []error
	if !validName(f.name) {
		problems = append(problems, errors.New("a template's name is 1 to 100 of A-Z, a-z, 0-9, _ and -"))
	}
	switch f.part {
	case PartSubject, PartText, PartHTML:
	default:
		problems = append(problems, fmt.Errorf("%q is no part: they are subject, txt and html", string(f.part)))
	}
	if f.syntax != SyntaxVariables && f.syntax != SyntaxGo {
		problems = append(problems, fmt.Errorf("%d is no syntax", int(f.syntax)))
	}
	if f.syntax == SyntaxVariables && f.shared() {
		problems = append(problems, errors.New("a shared template, whose name begins with _, is a Go template: add .tmpl to the file's name"))
	}
	return errors.Join(problems...)
}

func (f *partFile) checkText() error {
	var problems []error
	if len(f.text) > maxTemplate {
		problems = append(problems, fmt.Errorf("the text is longer than %d bytes", maxTemplate))
	}
	if !utf8.ValidString(f.text) || strings.ContainsRune(f.text, 0) {
		problems = append(problems, errors.New("the text is not valid UTF-8, or has a NUL"))
	}
	return errors.Join(problems...)
}

// plainPart is a text with ${name} whose output is not escaped.
type plainPart []piece

func (p plainPart) render(v *variables) (string, error) {
	values, err := collect(p, v)
	if err != nil {
		return "", err
	}
	var out limited
	for _, piece := range p {
		text := piece.literal
		if piece.path != "" {
			text = fmt.Sprint(values[piece.path])
		}
		if _, err := io.WriteString(&out, text); err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

// collect returns the value of each path, or an error that names every one that is missing.
func collect(pieces []piece, v *variables) (map[string]any, error) {
	values := map[string]any{}
	missing := &MissingVariablesError{}
	var problems []error
	for _, p := range pieces {
		if p.path == "" || values[p.path] != nil {
			continue
		}
		value, found, err := v.get(p.path)
		switch {
		case !found:
			missing.add(p.path)
		case err != nil:
			problems = append(problems, err)
		default:
			values[p.path] = value
		}
	}
	if len(missing.Variables) > 0 {
		return nil, missing
	}
	return values, errors.Join(problems...)
}

// htmlPart is a text with ${name} as an html/template, which escapes by context.
type htmlPart struct {
	pieces []piece
	t      *htmltemplate.Template
}

// The delimiters of the template that is made of ${name}. No text has a NUL, so none can hold them, and "{{" is a text.
const leftDelim, rightDelim = "\x00{", "}\x00"

func compileHTML(f *partFile, pieces []piece) (part, error) {
	var text strings.Builder
	for _, p := range pieces {
		if p.path == "" {
			text.WriteString(p.literal)
			continue
		}
		fmt.Fprintf(&text, "%sindex . %q%s", leftDelim, p.path, rightDelim)
	}
	t, err := htmltemplate.New(f.origin).Delims(leftDelim, rightDelim).Parse(text.String())
	if err == nil {
		err = escapeNow(t)
	}
	if err != nil {
		return nil, placed(f.origin, reason(err, f.origin))
	}
	return htmlPart{pieces: pieces, t: t}, nil
}

func (p htmlPart) render(v *variables) (string, error) {
	values, err := collect(p.pieces, v)
	if err != nil {
		return "", err
	}
	var out limited
	if err := p.t.Execute(&out, values); err != nil {
		return "", explain(err)
	}
	return out.String(), nil
}

// escapeNow makes html/template look for the contexts, which it does at the first execution.
func escapeNow(t *htmltemplate.Template) error {
	err := t.Execute(refuse{}, nil)
	if e := (*htmltemplate.Error)(nil); errors.As(err, &e) {
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
