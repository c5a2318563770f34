package xvalid

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"strings"

	"github.com/go-playground/validator/v10"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// MaxFailures is the most failures that are told to a client in one answer. A body of
// thousands of bad elements would else be answered by a larger one.
const MaxFailures = 100

// FieldError tells a client what is wrong with one field of its request.
type FieldError struct {
	// Field is the dotted path by the names that the client uses: items[2].price.
	Field string `json:"field"`
	// Tag is the rule that failed.
	Tag string `json:"tag"`
	// Message says it in the language of the request.
	Message string `json:"message"`
}

// mapped enters the validator's error into the registry of foreign errors when the
// program starts. It refers to the type alone.
var _ = mapped()

func mapped() bool {
	xerror.RegisterMapper(xerror.MapAs[validator.ValidationErrors](xerror.BodyError))
	return true
}

// Failures lists what a failed validation found, in the language of the request, at most
// MaxFailures. It returns nil where err is no failed validation.
func Failures(ctx context.Context, err error) []FieldError {
	return failures(ctx, err, path)
}

// failures is Failures with the paths that name gives to the fields.
func failures(ctx context.Context, err error, name func(validator.FieldError) string) []FieldError {
	failed, _ := errors.AsType[validator.ValidationErrors](err)
	if failed == nil {
		return nil
	}
	failed = failed[:min(len(failed), MaxFailures)]
	lang, m := xerror.Language(ctx), load().messages
	list := make([]FieldError, len(failed))
	for i, fe := range failed {
		fe, index := unwrap(fe)
		field := name(fe)
		if index != "" { // a rule of a whole struct may name no field
			field = strings.TrimSuffix(index+"."+field, ".")
		}
		list[i] = FieldError{Field: field, Tag: fe.Tag(), Message: m.say(lang, fe, leaf(field))}
	}
	return list
}

// Error turns a failed validation into an error of the code with the list of failures as
// its data. Its message to the client is that of the first failure, its cause names
// fields and rules only. An err that is no failed validation becomes what xerror.From
// makes of it; nil stays nil.
func Error(ctx context.Context, code *xerror.ErrorCode, err error) *xerror.Error {
	return fail(code, err, Failures(ctx, err))
}

// ErrorNamed is Error for a request part with names of its own: tag is form, uri or
// header, and root the type that was validated. A field that has no such tag keeps its
// usual name.
func ErrorNamed(
	ctx context.Context, code *xerror.ErrorCode, err error, root reflect.Type, tag string,
) *xerror.Error {
	name := func(fe validator.FieldError) string {
		return cmp.Or(namedPath(root, tag, fe), path(fe))
	}
	return fail(code, err, failures(ctx, err, name))
}

func fail(code *xerror.ErrorCode, err error, list []FieldError) *xerror.Error {
	if len(list) == 0 {
		return xerror.From(err)
	}
	return xerror.WrapData(code, xerror.ErrMessage(list[0].Message), &cause{list: list, err: err},
		list)
}

// cause is a failed validation in a form that may be logged: the validator's own text
// shows the keys of maps.
type cause struct {
	list []FieldError
	err  error
}

// Error implements error.
func (c *cause) Error() string {
	texts := make([]string, len(c.list))
	for i, f := range c.list {
		texts[i] = f.Field + " failed on " + f.Tag
	}
	return "xvalid: " + strings.Join(texts, ", ")
}

// Unwrap returns the validator's error.
func (c *cause) Unwrap() error { return c.err }
