package xbind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/internal/phrase"
)

// toError converts the problem of the scanner into an error. offset is the position of
// the scanned data in the body.
func (d *scanner) toError(ctx context.Context, offset int) *xerror.Error {
	if d.tag != "" {
		return fieldError(ctx, xerror.BodyError, d.path, d.tag, d.problem)
	}
	return newError(ctx, xerror.BodyError, d.problem, strconv.Itoa(offset+d.pos))
}

func fieldError(
	ctx context.Context, code *xerror.ErrorCode, field, tag string, p phrase.Phrase,
	params ...string,
) *xerror.Error {
	if params == nil {
		params = []string{field[strings.LastIndexByte(field, '.')+1:]}
	}
	message := localize(ctx, p, params...)
	failure := xvalid.FieldError{Field: field, Tag: tag, Message: string(message)}
	return xerror.WrapData(code, message, nil, []xvalid.FieldError{failure})
}

// decodeError converts an error of encoding/json into an error that names the field. It
// drops the text of encoding/json, which quotes the body.
func (d *scanner) decodeError(ctx context.Context, offset int, p *plan, err error) *xerror.Error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at := strconv.Itoa(offset + firstByte(d.data, int(syntax.Offset)))
		return newError(ctx, xerror.BodyError, phrase.Syntax, at)
	}
	d.reset(d.data, &Strictness{AllowDuplicateKeys: true})
	d.probe = true
	if d.value(p); d.typ != nil {
		return xvalid.TypeError(xvalid.Body, xvalid.TypeFailure(ctx, d.path, d.typ, ""))
	}
	return xerror.Wrap(xerror.BodyType, localize(ctx, msgUnreadable),
		fmt.Errorf("xbind: cannot decode: %T", err))
}

// firstByte converts the offset of the end of a character into the offset after its first
// byte. A SyntaxError contains the first offset since Go 1.27, and the second in older
// versions.
func firstByte(data []byte, offset int) int {
	for offset > 1 && offset <= len(data) && !utf8.RuneStart(data[offset-1]) {
		offset--
	}
	return offset
}
