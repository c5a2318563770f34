package xvalid

import (
	"context"

	"github.com/go-playground/validator/v10"
)

// Fresh is an engine of a test's own.
type Fresh struct{ e *engine }

// NewFresh builds an engine.
func NewFresh() Fresh { return Fresh{newEngine()} }

// Validate is Validate on this engine.
func (f Fresh) Validate(value any) error { return f.e.validate(context.Background(), value) }

// RegisterValidation is RegisterValidation on this engine.
func (f Fresh) RegisterValidation(tag string, fn validator.Func, english, chinese string) error {
	return f.e.register(tag, fn, english, chinese)
}

// Messages returns how many messages are kept.
func Messages() int {
	m := load().messages
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.rendered)
}

// IsPlainEmail is isPlainEmail.
var IsPlainEmail = isPlainEmail

// Speaks reports whether a language has a message for a rule.
func Speaks(lang, tag string) bool {
	text, err := load().messages.speakers[lang].Translator.T(tag, "field", "parameter")
	return err == nil && text != ""
}
