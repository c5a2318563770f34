package xvalid

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/go-playground/locales"
	localeEnglish "github.com/go-playground/locales/en"
	localeChinese "github.com/go-playground/locales/zh"
	ut "github.com/go-playground/universal-translator"
	"github.com/go-playground/validator/v10"
	english "github.com/go-playground/validator/v10/translations/en"
	chinese "github.com/go-playground/validator/v10/translations/zh"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// fieldMark stands for the field in a message that is rendered.
const fieldMark = "\x00"

// language is an index into messages.
type language uint8

const (
	inEnglish language = iota
	inChinese
	languages
)

func languageOf(name string) language {
	if name == xerror.Chinese {
		return inChinese
	}
	return inEnglish
}

// messages renders what a failed rule says. It is safe for concurrent use.
type messages struct {
	validator *validator.Validate

	mu       sync.RWMutex
	speak    [languages]*speaker
	rendered map[messageKey]string // of fields outside of slices and maps: bounded by the size of the program
}

// messageKey is all that a message depends on.
type messageKey struct {
	lang                      language
	tag, actual, param, field string
	typ                       reflect.Type
}

// speaker is a translator that never fails: the validator's translations answer a failure by printing the
// error with the value in it. It writes a mark for the field.
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

// C implements ut.Translator.
func (s *speaker) C(key any, num float64, digits uint64, param string) (string, error) {
	text, err := s.Translator.C(key, num, digits, param)
	if err != nil {
		return param, nil //nolint:nilerr // a speaker does not fail
	}
	return text, nil
}

func newMessages(v *validator.Validate) *messages {
	m := &messages{validator: v, rendered: map[messageKey]string{}}
	m.speak[inEnglish] = newSpeaker(localeEnglish.New(), fieldMark+" is not valid")
	m.speak[inChinese] = newSpeaker(localeChinese.New(), fieldMark+"无效")
	if err := english.RegisterDefaultTranslations(v, m.speak[inEnglish]); err != nil {
		panic(err) // a fault in the library's table
	}
	if err := chinese.RegisterDefaultTranslations(v, m.speak[inChinese]); err != nil {
		panic(err)
	}
	for _, s := range supplement {
		for lang, text := range [languages]string{s.english, s.chinese} {
			if text == "" {
				continue
			}
			if err := m.addOne(language(lang), s.tag, text); err != nil {
				panic(err)
			}
		}
	}
	return m
}

func newSpeaker(locale locales.Translator, fallback string) *speaker {
	t, _ := ut.New(locale, locale).GetTranslator(locale.Locale())
	return &speaker{Translator: t, fallback: fallback}
}

// add sets the messages of a tag and forgets what was rendered before.
func (m *messages) add(tag, english, chinese string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.addOne(inEnglish, tag, english); err != nil {
		return err
	}
	if err := m.addOne(inChinese, tag, chinese); err != nil {
		return err
	}
	clear(m.rendered)
	return nil
}

func (m *messages) addOne(lang language, tag, text string) error {
	if strings.Contains(text, "{2}") {
		return fmt.Errorf("message %q: only {0} and {1} have a meaning", text)
	}
	return m.validator.RegisterTranslation(tag, m.speak[lang],
		func(t ut.Translator) error { return t.Add(tag, text, true) },
		func(t ut.Translator, fe validator.FieldError) string {
			said, _ := t.T(tag, fieldMark, fe.Param()) // a speaker does not fail
			return said
		})
}

// say returns the message for a failure of the field.
func (m *messages) say(lang language, fe validator.FieldError, field string) string {
	key := messageKey{
		lang: lang, tag: fe.Tag(), actual: fe.ActualTag(), param: fe.Param(), field: field, typ: fe.Type(),
	}
	m.mu.RLock()
	text, ok := m.rendered[key]
	m.mu.RUnlock()
	if ok {
		return text
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	text = fe.Translate(m.speak[lang])
	if text == fe.Error() { // the validator's own text, where it has no translation
		text = m.speak[lang].fallback
	}
	text = strings.ReplaceAll(text, fieldMark, field)
	if !strings.Contains(field, "[") {
		m.rendered[key] = text
	}
	return text
}
