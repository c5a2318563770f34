package xvalid

import (
	_ "embed"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	localeEnglish "github.com/go-playground/locales/en"
	localeChinese "github.com/go-playground/locales/zh"
	ut "github.com/go-playground/universal-translator"
	"github.com/go-playground/validator/v10"
	english "github.com/go-playground/validator/v10/translations/en"
	chinese "github.com/go-playground/validator/v10/translations/zh"

	"github.com/plinthgo/plinth/core/common/xerror"
)

const (
	// fieldMark stands for the field in a message that is rendered.
	fieldMark = "\x00"

	// maxMessages bounds the messages that are kept. A program reaches it by its own
	// size, or by rules of its own that report the keys of a map as fields.
	maxMessages = 4096
)

// supplement has messages for rules that the validator's translations leave out.
//
//go:embed supplement.tsv
var supplement string

// messages renders what a failed rule says. It is safe for concurrent use.
type messages struct {
	validator *validator.Validate
	speakers  map[string]*speaker // by language

	mu       sync.RWMutex
	rendered map[messageKey]string // not of elements
}

// messageKey is all that a message depends on.
type messageKey struct {
	lang, tag, actual, param, field string
	typ                             reflect.Type
}

// speaker is a translator that never fails: the validator's translations answer a failure
// by printing the error with the value in it. It writes a mark for the field.
type speaker struct {
	ut.Translator
	fallback string
}

// T implements ut.Translator. The first parameter is always the field.
func (s *speaker) T(key any, params ...string) (string, error) {
	if len(params) > 0 {
		params[0] = fieldMark
	}
	text, err := s.Translator.T(key, params...)
	if err != nil {
		return s.fallback, nil //nolint:nilerr // a speaker does not fail
	}
	return text, nil
}

func newMessages(v *validator.Validate) *messages {
	inEnglish := &speaker{ut.New(localeEnglish.New()).GetFallback(), fieldMark + " is not valid"}
	inChinese := &speaker{ut.New(localeChinese.New()).GetFallback(), fieldMark + "无效"}
	m := &messages{
		validator: v,
		speakers:  map[string]*speaker{xerror.English: inEnglish, xerror.Chinese: inChinese},
		rendered:  map[messageKey]string{},
	}
	err := errors.Join(
		english.RegisterDefaultTranslations(v, inEnglish),
		chinese.RegisterDefaultTranslations(v, inChinese),
	)
	for line := range strings.Lines(supplement) {
		if !strings.HasPrefix(line, "#") {
			columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			err = errors.Join(err, m.set(columns[1], columns[0], columns[2]))
		}
	}
	if err != nil {
		panic(err) // a fault in a table
	}
	return m
}

// set sets the message of a tag in a language, and forgets what was rendered before.
func (m *messages) set(lang, tag, text string) error {
	if strings.Contains(text, "{2}") {
		return fmt.Errorf("message %q: only {0} and {1} have a meaning", text)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.rendered)
	return m.validator.RegisterTranslation(tag, m.speakers[lang],
		func(t ut.Translator) error { return t.Add(tag, text, true) },
		func(t ut.Translator, fe validator.FieldError) string {
			said, _ := t.T(tag, fieldMark, fe.Param()) // a speaker does not fail
			return said
		})
}

// say returns the message for a failure of the field.
func (m *messages) say(lang string, fe validator.FieldError, field string) string {
	key := messageKey{
		lang: lang, tag: fe.Tag(), actual: fe.ActualTag(), param: fe.Param(), field: field,
		typ: fe.Type(),
	}
	m.mu.RLock()
	text, ok := m.rendered[key]
	m.mu.RUnlock()
	if ok {
		return text
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	text = fe.Translate(m.speakers[lang])
	if text == fe.Error() { // the validator's own text, where it has no translation
		text = m.speakers[lang].fallback
	}
	text = strings.ReplaceAll(text, fieldMark, field)
	if len(m.rendered) < maxMessages && !strings.Contains(field, "[") {
		m.rendered[key] = text
	}
	return text
}
