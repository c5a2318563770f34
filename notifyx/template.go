package notifyx

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"
)

// Rendered is a rendered template. Parts that the template does not have are empty.
type Rendered struct {
	Subject, Text, HTML string
}

// Templates renders messages from named templates. It is safe for concurrent use. The
// zero value is empty and ready to use.
//
// Variables are data and are never executed as templates. They are converted to JSON
// values first, so that a stored message renders the same: struct fields have the names
// of their JSON tags, times are RFC 3339 strings, and a template.HTML is an ordinary
// string and is escaped. A nil value is a missing variable.
type Templates struct {
	mu     sync.RWMutex
	sets   map[string]*templateSet
	shared sharedFiles // templates that sets may include
}

// NewTemplates returns an empty set of templates.
func NewTemplates() *Templates {
	registerMapper()
	return &Templates{}
}

// templateSet contains all parts of one template. It is immutable, so that rendering
// needs no lock.
type templateSet struct {
	parts   map[partKey]*part
	tags    []language.Tag // distinct languages of the parts
	matcher language.Matcher
}

// Add adds one part of the template called name. The language is a BCP 47 tag, or empty
// for a part that is used if no language matches. The error is an ErrTemplate with the
// position of the problem.
func (t *Templates) Add(name, language string, part Part, text string, syntax Syntax) error {
	origin := name
	if language != "" {
		origin += "." + language
	}
	f := partFile{
		origin: origin + "." + string(part), name: name, part: part, syntax: syntax, text: text,
	}
	tag, err := parseTag(language)
	if err != nil {
		return &templateError{origin: f.origin, problem: err.Error()}
	}
	f.tag = tag
	return t.add([]partFile{f})
}

// AddFS adds the files that match a pattern of fs.Glob. The base name of a file
// determines its template, language and part:
//
//	NAME[.LANGUAGE].(subject|txt|html)[.tmpl]
//
// Examples are welcome.en.html.tmpl, welcome.zh.subject and invoice.txt. A file with
// .tmpl has Go syntax; other files use ${name}. In these "{{" is an error, because it
// would be sent literally.
//
// A name that starts with "_", such as _layout.html.tmpl, is a shared template. Messages
// cannot name it. Templates of the same part that are added with it or later include it
// with {{template "_layout" .}}. Definitions of a part override those of the shared
// template, such as its blocks. The shared template in the language of the part is used,
// else one in a parent language, else the one without a language.
//
// If a file has an error, AddFS adds no file and returns all errors.
func (t *Templates) AddFS(fsys fs.FS, pattern string) error {
	files, err := readFiles(fsys, pattern)
	if err != nil {
		return err
	}
	return t.add(files)
}

// add compiles and adds all files, or no file if one has an error.
func (t *Templates) add(files []partFile) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	shared, problems := t.withShared(files)
	next := map[string]*templateSet{}
	for i := range files {
		f := &files[i]
		if f.shared() {
			continue
		}
		if next[f.name] == nil {
			next[f.name] = t.sets[f.name].clone()
		}
		p, err := compile(f, shared)
		if err == nil {
			err = next[f.name].put(f, p)
		}
		problems = append(problems, err)
	}
	if err := errors.Join(distinct(problems)...); err != nil {
		return err
	}
	if t.sets == nil {
		t.sets = map[string]*templateSet{}
	}
	for name, set := range next {
		set.matcher = language.NewMatcher(set.tags)
		t.sets[name] = set
	}
	t.shared = shared
	return nil
}

// withShared returns the existing shared templates and those of files, with the errors of
// the latter.
func (t *Templates) withShared(files []partFile) (shared sharedFiles, problems []error) {
	shared = sharedFiles{}
	maps.Copy(shared, t.shared)
	for i := range files {
		if f := &files[i]; f.shared() {
			problems = append(problems, shared.put(f))
		}
	}
	return shared, problems
}

// distinct removes errors with the same text: an error of a shared template occurs in
// each part that includes it.
func distinct(problems []error) []error {
	seen := map[string]bool{}
	return slices.DeleteFunc(problems, func(err error) bool {
		if err == nil || seen[err.Error()] {
			return true
		}
		seen[err.Error()] = true
		return false
	})
}

// clone returns a mutable copy of the set. A nil set is empty.
func (s *templateSet) clone() *templateSet {
	c := &templateSet{parts: map[partKey]*part{}}
	if s != nil {
		c.tags = slices.Clone(s.tags)
		maps.Copy(c.parts, s.parts)
	}
	return c
}

func (s *templateSet) put(f *partFile, p *part) error {
	key := f.key()
	if _, exists := s.parts[key]; exists {
		return &templateError{
			origin:  f.origin,
			problem: fmt.Sprintf("template %q has this part already", f.name),
		}
	}
	s.parts[key] = p
	if f.tag != language.Und && !slices.Contains(s.tags, f.tag) {
		s.tags = append(s.tags, f.tag)
	}
	return nil
}

// Has reports whether a template called name exists in any language.
func (t *Templates) Has(name string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.sets[name] != nil
}

// Render renders the parts of the template called name.
//
// The language is a BCP 47 tag or an Accept-Language value; an invalid value is ignored.
// Render chooses one language for all parts from those of the template, else English.
// Parts missing in that language come from the files without a language.
//
// Every error is an ErrTemplate: ErrNoTemplate, a *MissingVariablesError, a subject with
// a line break, or a part of more than 1 MiB. Errors contain no values.
func (t *Templates) Render(name, language string, variables map[string]any) (Rendered, error) {
	t.mu.RLock()
	set := t.sets[name]
	t.mu.RUnlock()
	if set == nil {
		return Rendered{}, fmt.Errorf("%w: %q", ErrNoTemplate, name)
	}
	var f failures
	v, err := plainVariables(variables)
	if err != nil {
		f.add(err)
		return Rendered{}, f.of(name)
	}
	r, found := set.render(set.choose(language), v, &f)
	if !found {
		return Rendered{}, fmt.Errorf("%w in this language, in English, or without a language: %q",
			ErrNoTemplate, name)
	}
	if err := f.of(name); err != nil {
		return Rendered{}, err
	}
	return r, nil
}

// render renders all parts. found is false if no part exists.
func (s *templateSet) render(lang string, v map[string]any, f *failures) (r Rendered, found bool) {
	for _, to := range []struct {
		part Part
		text *string
	}{{PartSubject, &r.Subject}, {PartText, &r.Text}, {PartHTML, &r.HTML}} {
		p := s.find(lang, to.part)
		if p == nil {
			continue
		}
		found = true
		var err error
		if *to.text, err = p.render(v); err == nil && to.part == PartSubject {
			err = checkLine(*to.text)
		}
		if err != nil {
			f.add(err)
		}
	}
	return r, found
}

func (s *templateSet) find(lang string, name Part) *part {
	if p := s.parts[partKey{lang, name}]; p != nil {
		return p
	}
	return s.parts[partKey{part: name}]
}

// checkLine rejects a subject that could inject another header or line.
func checkLine(subject string) error {
	if strings.ContainsFunc(subject, breaksLine) {
		return errors.New("the subject must be a single line: " +
			"it has a line break or another control character")
	}
	return nil
}
