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
	// fieldMark is the placeholder for the field in a rendered message.
	fieldMark = "\x00"

	// maxMessages limits the number of cached messages. Only very large programs, or
	// custom rules that report keys of maps as fields, reach it.
	maxMessages = 4096
)

// supplement contains messages for rules that the validator's translations omit.
//
//go:embed supplement.tsv
var supplement string

// messages renders messages of failed rules. It is safe for concurrent use.
type messages struct {
	validator   *validator.Validate
	translators map[string]*fallbackTranslator // by language

	mu       sync.RWMutex
	rendered map[messageKey]string // cache, without fields of elements
}

// messageKey contains everything that determines a message.
type messageKey struct {
	lang, tag, actual, param, field string
	typ                             reflect.Type
}

// fallbackTranslator is a translator that never fails, because the validator prints the
// rejected value if a translation fails. It writes fieldMark for the field.
type fallbackTranslator struct {
	ut.Translator
	fallback string
}

// T implements ut.Translator. The first parameter is always the field.
func (s *fallbackTranslator) T(key any, params ...string) (string, error) {
	if len(params) > 0 {
		params[0] = fieldMark
	}
	text, err := s.Translator.T(key, params...)
	if err != nil {
		return s.fallback, nil //nolint:nilerr // T must not fail
	}
	return text, nil
}

func newMessages(v *validator.Validate) *messages {
	inEnglish := &fallbackTranslator{
		ut.New(localeEnglish.New()).GetFallback(), fieldMark + " is not valid",
	}
	inChinese := &fallbackTranslator{ut.New(localeChinese.New()).GetFallback(), fieldMark + "无效"}
	m := &messages{
		validator: v,
		translators: map[string]*fallbackTranslator{
			xerror.English: inEnglish, xerror.Chinese: inChinese,
		},
		rendered: map[messageKey]string{},
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
		panic(err) // an error in a table of this package
	}
	return m
}

// set sets the message of a tag in a language and clears the cache.
func (m *messages) set(lang, tag, text string) error {
	if strings.Contains(text, "{2}") {
		return fmt.Errorf("message %q: only {0} and {1} are supported", text)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.rendered)
	return m.validator.RegisterTranslation(tag, m.translators[lang],
		func(t ut.Translator) error { return t.Add(tag, text, true) },
		func(t ut.Translator, fe validator.FieldError) string {
			message, _ := t.T(tag, fieldMark, fe.Param()) // T does not fail
			return message
		})
}

func (m *messages) render(lang string, fe validator.FieldError, field string) string {
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
	text = fe.Translate(m.translators[lang])
	if text == fe.Error() { // the text of the validator if it has no translation
		text = m.translators[lang].fallback
	}
	text = strings.ReplaceAll(text, fieldMark, field)
	if len(m.rendered) < maxMessages && !strings.Contains(field, "[") {
		m.rendered[key] = text
	}
	return text
}
