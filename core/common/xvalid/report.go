package xvalid

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-playground/validator/v10"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// Source is the part of a request that was bound; it decides on the codes of its errors.
type Source uint8

// The parts of a request.
const (
	Body Source = iota
	Query
	Path
	Header
)

// Code returns the code of a failed validation: BodyError, ParameterError or HeaderError.
func (s Source) Code() *xerror.ErrorCode {
	switch s {
	case Query, Path:
		return xerror.ParameterError
	case Header:
		return xerror.HeaderError
	case Body:
	}
	return xerror.BodyError
}

// TypeCode returns the code of a value of the wrong type: BodyType, ParameterType or HeaderType.
func (s Source) TypeCode() *xerror.ErrorCode {
	switch s {
	case Query, Path:
		return xerror.ParameterType
	case Header:
		return xerror.HeaderType
	case Body:
	}
	return xerror.BodyType
}

// Reporter is the context of a request that collects errors. *gin.Context is one: E is its *gin.Error.
type Reporter[E any] interface {
	context.Context
	Error(err error) E
	Abort()
}

// HandleValidationError reports the error of a binding or a validation once and ends the request; the
// error middleware renders it. A nil error is nothing to report: the result says whether there was one.
//
//	if xvalid.HandleValidationError(c, c.ShouldBindJSON(&request)) {
//		return
//	}
//
// The error is taken to come from the body unless a source is given.
func HandleValidationError[E any](c Reporter[E], err error, from ...Source) bool {
	if err == nil {
		return false
	}
	source := Body
	if len(from) > 0 {
		source = from[0]
	}
	c.Error(BindError(c, source, err))
	c.Abort()
	return true
}

// BindError turns the error of a binding or a validation into one for the client; nil stays nil. Neither
// its message nor the text of its cause repeats what the client sent.
func BindError(ctx context.Context, from Source, err error) *xerror.Error {
	if err == nil {
		return nil
	}
	var (
		known  *xerror.Error
		rule   *RuleError
		failed validator.ValidationErrors
	)
	switch {
	case errors.As(err, &known), errors.As(err, &rule):
		return xerror.From(err)
	case errors.As(err, &failed):
		return Error(ctx, from.Code(), err)
	}
	if e := readError(ctx, err); e != nil {
		return e
	}
	return decodeError(ctx, from, err)
}

// readError knows the errors of reading a body, whose texts hold nothing of it.
func readError(ctx context.Context, err error) *xerror.Error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return xerror.Wrap(xerror.PayloadTooLarge, say(ctx, textTooLarge, strconv.FormatInt(tooLarge.Limit, 10)), err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return xerror.Wrap(xerror.ReadTimeout, "", err)
	case errors.Is(err, context.DeadlineExceeded):
		return xerror.From(err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return xerror.Wrap(xerror.BodyError, say(ctx, textTruncated), err)
	case errors.Is(err, io.EOF):
		return xerror.Wrap(xerror.BodyEmpty, say(ctx, textEmpty), err)
	}
	if e := xerror.From(xerror.MarkBody(err)); e.GetErrorCode() == xerror.Canceled {
		return e // the client has closed the connection
	}
	return nil
}

// quotedType begins the text of the error of encoding/json before Go 1.27 for a value of the wrong type
// if the field has the string option. Later it is a *json.UnmarshalTypeError.
const quotedType = "json: invalid use of ,string struct tag"

// decodeError knows the errors of decoding. Their texts quote the input, so none of them becomes the
// cause.
func decodeError(ctx context.Context, from Source, err error) *xerror.Error {
	var (
		syntax *json.SyntaxError
		typ    *json.UnmarshalTypeError
		number *strconv.NumError
		clock  *time.ParseError
	)
	switch {
	case errors.As(err, &syntax):
		offset := strconv.FormatInt(syntax.Offset, 10)
		return xerror.Wrap(xerror.BodyError, say(ctx, textSyntax, offset), redacted("json syntax error at byte "+offset))
	case errors.As(err, &typ):
		return TypeError(ctx, from, TypeFailure(ctx, typ.Field, typ.Type))
	case errors.As(err, &number):
		return xerror.Wrap(from.TypeCode(), say(ctx, textNumber), redacted(number.Func+": "+number.Err.Error()))
	case errors.As(err, &clock):
		return xerror.Wrap(from.TypeCode(), say(ctx, textTime), redacted("a time that does not parse"))
	case strings.HasPrefix(err.Error(), quotedType):
		return xerror.Wrap(from.TypeCode(), say(ctx, textUnreadable), redacted("a value of the wrong type for the string option"))
	default:
		code := xerror.From(err).GetErrorCode()
		if code == xerror.ServerInternalError {
			code = from.Code() // unknown, but it came of what the client sent
		}
		return xerror.Wrap(code, say(ctx, textUnreadable), redacted(fmt.Sprintf("cannot bind: %T", err)))
	}
}

// TypeFailure says that the value of a field cannot become the type that is wanted.
func TypeFailure(ctx context.Context, field string, want reflect.Type) FieldError {
	name := leaf(field)
	if name == "" {
		name = string(say(ctx, textThisBody))
	}
	return FieldError{Field: field, Tag: "type", Message: string(say(ctx, textType, name, wanted(ctx, want)))}
}

// TimeFailure is TypeFailure for a parameter that is a time with a time_format of gin; "" is RFC 3339.
func TimeFailure(ctx context.Context, field, format string) FieldError {
	return FieldError{Field: field, Tag: "type", Message: string(say(ctx, textType, leaf(field), wantedTime(ctx, format)))}
}

// TypeError returns an error for values of the wrong type, with the list of failures as its data.
func TypeError(_ context.Context, from Source, list ...FieldError) *xerror.Error {
	return xerror.WrapData(from.TypeCode(), xerror.ErrMessage(list[0].Message), &cause{list: list}, list)
}

// redacted is the cause of an error whose own text would quote the client.
type redacted string

// Error implements error.
func (r redacted) Error() string { return "xvalid: " + string(r) }
