package xvalid

import (
	"context"

	"github.com/go-playground/validator/v10"
)

// Fresh is an engine for one test.
type Fresh struct{ e *engine }

// NewFresh creates an engine.
func NewFresh() Fresh { return Fresh{newEngine()} }

// Validate is Validate with this engine.
func (f Fresh) Validate(value any) error { return f.e.validate(context.Background(), value) }

// RegisterValidation is RegisterValidation with this engine.
func (f Fresh) RegisterValidation(tag string, fn validator.Func, english, chinese string) error {
	return f.e.register(tag, fn, english, chinese)
}

// Messages returns the number of cached messages.
func Messages() int {
	m := load().messages
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.rendered)
}

// IsPlainEmail is isPlainEmail.
var IsPlainEmail = isPlainEmail

// HasMessage reports whether a language has a message for a rule.
func HasMessage(lang, tag string) bool {
	text, err := load().messages.translators[lang].Translator.T(tag, "field", "parameter")
	return err == nil && text != ""
}
