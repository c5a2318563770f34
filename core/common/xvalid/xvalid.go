// Package xvalid validates structs with the rules of their binding tags and says what is
// wrong in English or Chinese.
//
// There is one validator in a process: it is built on first use, and xreg installs it as
// gin's, so that gin's own binding and this package follow the same rules. Beside the
// rules of github.com/go-playground/validator it knows strict_url, strict_uuid,
// alphanum_underscore, regexp, enum_int, enum_string, enum_float and snowflake.
//
// A value that was refused appears in no message, error text or log line of this package.
package xvalid

import (
	"context"

	"github.com/go-playground/validator/v10"
)

// Validate checks value against its binding tags.
//
// A struct, a pointer to one, and the elements of a slice or array are checked; nil and
// everything else passes, as with gin. The error is a validator.ValidationErrors, or a
// *RuleError if a tag itself is wrong. It is safe for concurrent use.
func Validate(ctx context.Context, value any) error {
	return load().validate(ctx, value)
}

// Engine returns the validator itself, for what RegisterValidation does not cover:
// aliases, struct-level rules, custom types. Like every change of a validator, that
// belongs before the first validation.
func Engine() *validator.Validate { return load().validator }

// RegisterValidation adds a rule with its message in English and Chinese, or replaces the
// rule of that name. In a message {0} stands for the field and {1} for the tag's
// parameter.
//
// It may be called at any time and from any goroutine; calling it twice is harmless. A
// struct type that has been validated keeps the rules it had, except that a rule which
// was added here follows its replacement.
func RegisterValidation(tag string, fn validator.Func, english, chinese string) error {
	return load().register(tag, fn, english, chinese)
}

// GinBinding is the validator in the form in which gin takes it, as binding.Validator.
// The zero value is ready to use, and builds nothing before its first call.
type GinBinding struct{}

// ValidateStruct is Validate without a context.
func (GinBinding) ValidateStruct(value any) error { return Validate(context.Background(), value) }

// Engine returns the *validator.Validate.
func (GinBinding) Engine() any { return Engine() }
