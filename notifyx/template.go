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

// Rendered is a message's text with its variables filled in. A part that the template
// does not have is empty.
type Rendered struct {
	Subject, Text, HTML string
}

// Templates renders messages from named templates. It is safe for concurrent use.
//
// Variables are data, and never run as a template. They are taken as JSON has them: a
// struct's fields under the names of their tags, a time as RFC 3339 text, a template.HTML
// as a string that is escaped like any other. So a message that was stored in between
// reads the same. A nil is a variable that is missing.
//
// The zero value is empty, as that of NewTemplates.
type Templates struct {
	mu     sync.RWMutex
	sets   map[string]*templateSet
	shared sharedFiles // what the templates of sets may run
}

// NewTemplates returns an empty set of templates.
func NewTemplates() *Templates {
	registerMapper()
	return &Templates{}
}

// templateSet is all parts of one name. It is never changed, so that rendering needs no
// lock.
type templateSet struct {
	parts   map[partKey]*part
	tags    []language.Tag // of the parts that have a language, each once
	matcher language.Matcher
}

// Add adds one part of the template called name. The language is a BCP 47 tag, or empty
// for a part that serves where none of a language does. The error names the place of
// whatever is wrong, and is an ErrTemplate.
func (t *Templates) Add(name, language string, part Part, text string, syntax Syntax) error {
	origin := name
	if language != "" {
		origin += "." + language
	}
	f := partFile{
		origin: origin + "." + string(part), name: name, part: part, syntax: syntax,
		text: text,
	}
	tag, err := parseTag(language)
	if err != nil {
		return &templateError{where: f.origin, what: err.Error()}
	}
	f.tag = tag
	return t.add([]partFile{f})
}

// AddFS adds the files that match a pattern of fs.Glob. Their names say what they are,
// whatever their folders:
//
//	NAME[.LANGUAGE].(subject|txt|html)[.tmpl]
//
// such as welcome.en.html.tmpl, welcome.zh.subject and invoice.txt. With .tmpl the syntax
// is Go's, else that of ${name}, where "{{" is an error, because it would be sent as it
// is.
//
// A name that begins with "_", such as that of _layout.html.tmpl, is a shared template:
// no message names it, and the templates of the same part that are added with it or later
// run it by {{template "_layout" .}}. What a part defines goes before what the shared
// template does, as in its blocks. The shared template is that of the part's language, or
// of a parent of it, else the one without a language.
//
// Everything that is wrong is reported at once, and then nothing is added.
func (t *Templates) AddFS(fsys fs.FS, pattern string) error {
	files, err := readFiles(fsys, pattern)
	if err != nil {
		return err
	}
	return t.add(files)
}

// add compiles and adds all of the files, or none.
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

// withShared returns the shared templates and those among the files, and what is wrong
// with these.
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

// distinct returns the errors, each text once: a shared template fails in each part that
// runs it.
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

// clone returns a set that may be changed. A nil set is an empty one.
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
	if _, taken := s.parts[key]; taken {
		return &templateError{
			where: f.origin,
			what:  fmt.Sprintf("template %q has this part already", f.name),
		}
	}
	s.parts[key] = p
	if f.tag != language.Und && !slices.Contains(s.tags, f.tag) {
		s.tags = append(s.tags, f.tag)
	}
	return nil
}

// Has reports whether there is a template called name, in whatever language.
func (t *Templates) Has(name string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.sets[name] != nil
}

// Render fills in the parts of the template called name.
//
// The language is a BCP 47 tag or the value of an Accept-Language header; one that says
// nothing is no error. It is chosen once for all parts, among those that the template
// has, else English. Parts that it does not have come from those without a language.
//
// Every error is an ErrTemplate: ErrNoTemplate, a *MissingVariablesError, a subject that
// would be more than one line, or a text of more than 1 MiB. None shows a value.
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

// render fills in all parts. found is false where there is none.
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

func (s *templateSet) find(lang string, which Part) *part {
	if p := s.parts[partKey{lang, which}]; p != nil {
		return p
	}
	return s.parts[partKey{part: which}]
}

// checkLine refuses what would begin another header, or another line.
func checkLine(subject string) error {
	if strings.ContainsFunc(subject, breaksLine) {
		return errors.New("the subject is no single line: it has a line break or another control character")
	}
	return nil
}
