package xvalid

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/internal/phrase"
)

// Source is the part of a request that was bound. It determines the error codes.
type Source uint8

// Parts of a request.
const (
	Body Source = iota
	Query
	Path
	Header
)

// codes contains the codes of a failed rule and of a wrong type, by source.
var codes = [...]struct{ rule, typ *xerror.ErrorCode }{
	Body:   {xerror.BodyError, xerror.BodyType},
	Query:  {xerror.ParameterError, xerror.ParameterType},
	Path:   {xerror.ParameterError, xerror.ParameterType},
	Header: {xerror.HeaderError, xerror.HeaderType},
}

// Code returns the code of a failed validation: BodyError, ParameterError or HeaderError.
func (s Source) Code() *xerror.ErrorCode { return codes[s].rule }

// TypeCode returns the code of a wrong type: BodyType, ParameterType or HeaderType.
func (s Source) TypeCode() *xerror.ErrorCode { return codes[s].typ }

// Reporter is a request context that collects errors, such as *gin.Context. E is
// *gin.Error in that case.
type Reporter[E any] interface {
	context.Context
	Error(err error) E
	Abort()
}

// HandleValidationError reports a binding or validation error and aborts the request. The
// error middleware renders the response. It reports whether err is not nil.
//
//	if xvalid.HandleValidationError(c, c.ShouldBindJSON(&request)) {
//		return
//	}
//
// The default source is Body.
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

// BindError converts a binding or validation error to an error for the client. It returns
// nil if err is nil. Neither the message nor the cause contains client input.
func BindError(ctx context.Context, from Source, err error) *xerror.Error {
	if err == nil {
		return nil
	}
	_, known := errors.AsType[*xerror.Error](err)
	_, invalidRule := errors.AsType[*RuleError](err)
	if known || invalidRule {
		return xerror.From(err)
	}
	if list := Failures(ctx, err); list != nil {
		return fail(from.Code(), err, list)
	}
	if e := readError(ctx, err); e != nil {
		return e
	}
	return decodeError(ctx, from, err)
}

// readError converts errors of reading the body, whose messages do not contain the body.
// It returns nil for other errors.
func readError(ctx context.Context, err error) *xerror.Error {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return wrap(ctx, xerror.PayloadTooLarge, err, textTooLarge,
			strconv.FormatInt(tooLarge.Limit, 10))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return wrap(ctx, xerror.BodyError, err, textTruncated)
	}
	if errors.Is(err, io.EOF) {
		return wrap(ctx, xerror.BodyEmpty, err, phrase.NoBody)
	}
	switch e := xerror.From(xerror.MarkBody(err)); e.GetErrorCode() {
	case xerror.ReadTimeout, xerror.GatewayTimeout, xerror.Canceled: // slow or disconnected client
		return e
	default:
		return nil
	}
}

// quotedType is the prefix of the encoding/json error for a wrong type in a field with
// the string option, before Go 1.27. Later versions return a *json.UnmarshalTypeError.
const quotedType = "json: invalid use of ,string struct tag"

// decodeError converts errors of decoding. Their messages contain the input, so it does
// not use them as causes.
func decodeError(ctx context.Context, from Source, err error) *xerror.Error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset := strconv.FormatInt(syntax.Offset, 10)
		return wrap(ctx, xerror.BodyError, redacted("json syntax error at byte "+offset),
			phrase.Syntax, offset)
	}
	if typ, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return TypeError(from, TypeFailure(ctx, typ.Field, typ.Type, ""))
	}
	if number, ok := errors.AsType[*strconv.NumError](err); ok {
		return wrap(ctx, from.TypeCode(), redacted(number.Func+": "+number.Err.Error()), textNumber)
	}
	if _, ok := errors.AsType[*time.ParseError](err); ok {
		return wrap(ctx, from.TypeCode(), redacted("invalid time"), textTime)
	}
	if strings.HasPrefix(err.Error(), quotedType) {
		cause := redacted("wrong type for the string option")
		return wrap(ctx, from.TypeCode(), cause, phrase.Unreadable)
	}
	code := xerror.From(err).GetErrorCode()
	if code == xerror.ServerInternalError {
		code = from.Code() // unknown, but caused by client input
	}
	return wrap(ctx, code, redacted(fmt.Sprintf("cannot bind: %T", err)), phrase.Unreadable)
}

func wrap(
	ctx context.Context, code *xerror.ErrorCode, cause error, p phrase.Phrase, params ...string,
) *xerror.Error {
	return xerror.Wrap(code, xerror.ErrMessage(localize(ctx, p, params...)), cause)
}

// TypeFailure returns the failure of a field whose value cannot be converted to want. For
// a time parameter, format is the time_format of gin; "" means RFC 3339.
func TypeFailure(ctx context.Context, field string, want reflect.Type, format string) FieldError {
	name := leaf(field)
	if name == "" {
		name = localize(ctx, textBody)
	}
	return FieldError{
		Field: field, Tag: "type",
		Message: localize(ctx, textType, name, wanted(ctx, want, format)),
	}
}

// TypeError returns an error for values of the wrong type, with the list of failures as
// data. The list must not be empty.
func TypeError(from Source, list ...FieldError) *xerror.Error {
	return xerror.WrapData(from.TypeCode(), xerror.ErrMessage(list[0].Message), &cause{list: list},
		list)
}

// redacted is the cause for an error whose text contains client input.
type redacted string

// Error implements error.
func (r redacted) Error() string { return "xvalid: " + string(r) }
