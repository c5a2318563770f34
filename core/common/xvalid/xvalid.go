// Package xvalid validates structs by their binding tags. Error messages are in English
// or Chinese.
//
// Each process has one validator. It is created on first use, and xreg installs it in
// gin, so that the bindings of gin and this package follow the same rules. In addition to
// the rules of github.com/go-playground/validator, it supports strict_url, strict_uuid,
// alphanum_underscore, regexp, enum_int, enum_string, enum_float and snowflake.
//
// Messages, errors and log lines of this package never contain a rejected value.
package xvalid

import (
	"context"
	"errors"
	"reflect"

	"github.com/go-playground/validator/v10"
)

// Validate checks value by its binding tags.
//
// It checks a struct, a pointer to a struct, and the elements of a slice or array. It
// accepts nil and all other values, as gin does. The error is a
// validator.ValidationErrors, or a *RuleError if a tag is invalid. Validate is safe for
// concurrent use.
func Validate(ctx context.Context, value any) error {
	return load().validate(ctx, value)
}

// Check returns the errors of the developer in the binding tags of t and of the struct
// types that its values contain: unknown rules and invalid parameters. The error joins
// one *RuleError for each type. Check does not run rules.
func Check(t reflect.Type) error {
	e := load()
	if _, ok := e.checked.Load(t); ok {
		return nil
	}
	e.gate.RLock()
	defer e.gate.RUnlock()
	err := errors.Join(e.check(t, map[reflect.Type]bool{})...)
	if err == nil {
		e.checked.Store(t, true)
	}
	return err
}

// Engine returns the underlying validator, for aliases, struct-level rules and custom
// types. Change it only before the first validation.
func Engine() *validator.Validate { return load().validator }

// RegisterValidation adds a rule with its message in English and Chinese, or replaces the
// rule with that name. In a message, {0} is the field and {1} is the parameter of the
// tag.
//
// It is safe for concurrent use and may be called repeatedly. A struct type that was
// validated before continues to use its rules. Only the replacement of a rule that
// RegisterValidation added affects it.
func RegisterValidation(tag string, fn validator.Func, english, chinese string) error {
	return load().register(tag, fn, english, chinese)
}

// GinBinding adapts the validator to binding.Validator of gin. The zero value is ready to
// use and creates the validator at its first call.
type GinBinding struct{}

// ValidateStruct calls Validate with context.Background().
func (GinBinding) ValidateStruct(value any) error { return Validate(context.Background(), value) }

// Engine returns the *validator.Validate.
func (GinBinding) Engine() any { return Engine() }
