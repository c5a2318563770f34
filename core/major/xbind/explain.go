package xbind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
)

// maxName is the longest name of a client's that is shown in an answer.
const maxName = 32

// explain turns the fault of a scanner into an error. offset is where its text begins in the body.
func (d *scanner) explain(ctx context.Context, offset int) *xerror.Error {
	at := strconv.Itoa(offset + d.pos)
	switch d.fault {
	case faultDuplicate:
		return d.explainMember(ctx, "duplicate", textDuplicate)
	case faultUnknown:
		return d.explainMember(ctx, "unknown", textUnknown)
	case faultDepth:
		return xerror.New(xerror.BodyError, say(ctx, textDepth, strconv.Itoa(d.maxDepth)))
	case faultUTF8:
		return xerror.New(xerror.BodyError, say(ctx, textUTF8, at))
	case faultTrailing:
		return xerror.New(xerror.BodyError, say(ctx, textTrailing, at))
	default:
		return xerror.New(xerror.BodyError, say(ctx, textSyntax, at))
	}
}

func (d *scanner) explainMember(ctx context.Context, tag string, p phrase) *xerror.Error {
	message := say(ctx, p, shown(d.path[0].name))
	return xerror.WrapData(xerror.BodyError, message, nil, []xvalid.FieldError{
		{Field: d.where(), Tag: tag, Message: string(message)},
	})
}

// where returns the path to the fault, from the outside in.
func (d *scanner) where() string {
	var b strings.Builder
	for _, s := range slices.Backward(d.path) {
		if s.name == nil {
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(shown(s.name))
	}
	return b.String()
}

// shown returns a member's name where it is short and plain, else "*".
func shown(name []byte) string {
	if len(name) == 0 || len(name) > maxName {
		return "*"
	}
	for _, c := range name {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return "*"
		}
	}
	return string(name)
}

// explainDecode turns what encoding/json says of data into an error that names the field. The texts of
// encoding/json quote the body, so they go no further.
func explainDecode(ctx context.Context, data []byte, offset int, t reflect.Type, err error) *xerror.Error {
	var (
		syntax *json.SyntaxError
		typ    *json.UnmarshalTypeError
	)
	switch {
	case errors.As(err, &syntax):
		at := strconv.Itoa(offset + firstByte(data, int(syntax.Offset)))
		return xerror.New(xerror.BodyError, say(ctx, textSyntax, at))
	case errors.As(err, &typ):
		field, ok := locate(data, t, int(typ.Offset)-1)
		if !ok {
			field = typ.Field
		}
		return xvalid.TypeError(ctx, xvalid.Body, xvalid.TypeFailure(ctx, field, typ.Type))
	}
	if field, typ, ok := locateRefused(data, t); ok {
		return xvalid.TypeError(ctx, xvalid.Body, xvalid.TypeFailure(ctx, field, typ))
	}
	return xerror.Wrap(xerror.BodyType, say(ctx, textUnreadable, ""), fmt.Errorf("xbind: cannot decode: %T", err))
}

// firstByte returns how many bytes precede the end of the first byte of the character that ends at an
// offset. encoding/json counts the whole character since Go 1.27, and its first byte before that.
func firstByte(data []byte, offset int) int {
	for offset > 1 && offset <= len(data) && !utf8.RuneStart(data[offset-1]) {
		offset--
	}
	return offset
}

// locate returns the path to the value at an offset.
func locate(data []byte, t reflect.Type, offset int) (string, bool) {
	d := retrace(data)
	d.target = offset
	d.value(planOf(t))
	return d.where(), d.fault == found
}

// locateRefused returns the path to the first value that its own type refuses, and that type.
func locateRefused(data []byte, t reflect.Type) (string, reflect.Type, bool) {
	d := retrace(data)
	d.probe = true
	d.value(planOf(t))
	return d.where(), d.typ, d.fault == found
}

// retrace returns a scanner that refuses nothing.
func retrace(data []byte) *scanner {
	d := &scanner{}
	d.begin(data, &Strictness{AllowDuplicateKeys: true, AllowInvalidUTF8: true, MaxDepth: len(data) + 1})
	return d
}
