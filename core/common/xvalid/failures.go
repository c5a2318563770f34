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

// MaxFailures is the maximum number of failures in one response. It prevents large
// responses to bodies with thousands of invalid elements.
const MaxFailures = 100

// FieldError describes the failure of one field of a request to the client.
type FieldError struct {
	// Field is the dotted path of the field, with the names that the client uses, such as
	// items[2].price.
	Field string `json:"field"`
	// Tag is the failed rule.
	Tag string `json:"tag"`
	// Message describes the failure in the language of the request.
	Message string `json:"message"`
}

// mapped registers the error code of the validator's errors at program start. It refers
// only to the type of these errors, so that it does not link the validator.
var _ = mapped()

func mapped() bool {
	xerror.RegisterMapper(xerror.MapAs[validator.ValidationErrors](xerror.BodyError))
	return true
}

// Failures lists the failures of a validation in the language of the request, at most
// MaxFailures. It returns nil if err is not a failed validation.
func Failures(ctx context.Context, err error) []FieldError {
	return failures(ctx, err, path)
}

// failures is like Failures, but calls name for the path of each field.
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
		if index != "" { // a struct-level rule may not name a field
			field = strings.TrimSuffix(index+"."+field, ".")
		}
		list[i] = FieldError{Field: field, Tag: fe.Tag(), Message: m.render(lang, fe, leaf(field))}
	}
	return list
}

// Error converts a failed validation to an error with the given code and the list of
// failures as data. Its client message is the message of the first failure, and its cause
// contains only fields and rules. For other errors it returns xerror.From(err), and nil
// for nil.
func Error(ctx context.Context, code *xerror.ErrorCode, err error) *xerror.Error {
	return fail(code, err, Failures(ctx, err))
}

// ErrorNamed is like Error, but for a request part whose fields have other names. tag is
// form, uri or header, and root is the validated type. A field without that tag has its
// default name.
func ErrorNamed(
	ctx context.Context, code *xerror.ErrorCode, err error, root reflect.Type, tag string,
) *xerror.Error {
	name := func(fe validator.FieldError) string {
		return cmp.Or(namedPath(root, tag, fe), path(fe))
	}
	return fail(code, err, failures(ctx, err, name))
}

// ErrorIn is like Error, but for a struct whose fields come from several parts of a
// request. locate returns the part and the name of the field with the given Go path, such
// as Page.Size. If the name is empty, the field has its default name. The code is that of
// the part of the first failure.
func ErrorIn(
	ctx context.Context, err error, root reflect.Type, locate func(path string) (Source, string),
) *xerror.Error {
	first, located := Body, false
	list := failures(ctx, err, func(fe validator.FieldError) string {
		from, name := locate(goPath(root, fe))
		if !located {
			first, located = from, true
		}
		if name == "" {
			return path(fe)
		}
		return maskKeys(name+indexes(fe), fe.Value())
	})
	return fail(first.Code(), err, list)
}

func fail(code *xerror.ErrorCode, err error, list []FieldError) *xerror.Error {
	if len(list) == 0 {
		return xerror.From(err)
	}
	return xerror.WrapData(code, xerror.ErrMessage(list[0].Message), &cause{list: list, err: err},
		list)
}

// cause is a failed validation that is safe to log. The error text of the validator
// contains keys of maps.
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

// Unwrap returns the error of the validator.
func (c *cause) Unwrap() error { return c.err }
