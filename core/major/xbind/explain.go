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

// explain turns the problem of a scanner into an error. offset is where its text begins
// in the body.
func (d *scanner) explain(ctx context.Context, offset int) *xerror.Error {
	if d.tag != "" {
		return fieldError(ctx, xerror.BodyError, d.path, d.tag, d.problem)
	}
	return refuse(ctx, xerror.BodyError, d.problem, strconv.Itoa(offset+d.pos))
}

// fieldError returns an error about one field.
func fieldError(
	ctx context.Context, code *xerror.ErrorCode, field, tag string, p phrase.Phrase,
	params ...string,
) *xerror.Error {
	if params == nil {
		params = []string{field[strings.LastIndexByte(field, '.')+1:]}
	}
	message := say(ctx, p, params...)
	failure := xvalid.FieldError{Field: field, Tag: tag, Message: string(message)}
	return xerror.WrapData(code, message, nil, []xvalid.FieldError{failure})
}

// explainDecode turns what encoding/json says of the text into an error that names the
// field. The texts of encoding/json quote the body, so they go no further.
func (d *scanner) explainDecode(ctx context.Context, offset int, p *plan, err error) *xerror.Error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at := strconv.Itoa(offset + firstByte(d.data, int(syntax.Offset)))
		return refuse(ctx, xerror.BodyError, phrase.Syntax, at)
	}
	d.begin(d.data, &Strictness{AllowDuplicateKeys: true})
	d.probe = true
	if d.value(p); d.typ != nil {
		return xvalid.TypeError(xvalid.Body, xvalid.TypeFailure(ctx, d.path, d.typ, ""))
	}
	return xerror.Wrap(xerror.BodyType, say(ctx, textUnreadable),
		fmt.Errorf("xbind: cannot decode: %T", err))
}

// firstByte returns how many bytes precede the end of the first byte of the character
// that ends at an offset. encoding/json counts the whole character since Go 1.27, and its
// first byte before that.
func firstByte(data []byte, offset int) int {
	for offset > 1 && offset <= len(data) && !utf8.RuneStart(data[offset-1]) {
		offset--
	}
	return offset
}
