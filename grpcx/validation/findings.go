package validation

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
)

// TagInvalid is the tag of a failure whose rule is not known: protoc-gen-validate does
// not name its rules.
const TagInvalid = "invalid"

// maxDepth bounds the errors within errors below which a failure is told of the message
// and no longer of its field. A client may nest a recursive message thousands of times. A
// level of messages takes two: the list and an entry of it.
const maxDepth = 64

// The shapes of the errors that protoc-gen-validate generates. The package itself is not
// imported: an application that does not use it shall not link it.
type (
	// fieldError is what is wrong with one field. It may also have Cause() error and
	// Key() bool.
	fieldError interface {
		error
		Field() string
		Reason() string
	}

	// multiError is the result of ValidateAll.
	multiError interface {
		error
		AllErrors() []error
	}
)

// lists reports whether err, or an error inside it, names fields.
func lists(err error) bool {
	var (
		multi multiError
		field fieldError
	)
	return !rpcstatus.IsNil(err) && (errors.As(err, &multi) || errors.As(err, &field))
}

// findings returns what err says of fields, at most xvalid.MaxFailures, and the index of
// the first that names one and the rule that it breaks, or noHead. Any other text may be
// of any source.
func findings(ctx context.Context, err error) (list []xvalid.FieldError, head int) {
	f := finder{language: xerror.Language(ctx), head: noHead}
	f.add(err, "", 0)
	return f.list, f.head
}

// finder walks through the errors of nested messages.
type finder struct {
	language string
	list     []xvalid.FieldError
	head     int
}

// add adds what err says of the message at path.
func (f *finder) add(err error, path string, depth int) {
	if rpcstatus.IsNil(err) || depth > maxDepth {
		return
	}
	switch e := err.(type) { //nolint:errorlint // walks the tree itself
	case multiError:
		f.addAll(e.AllErrors(), path, depth+1)
	case fieldError:
		f.addField(e, path, depth)
	case interface{ Unwrap() []error }:
		f.addAll(e.Unwrap(), path, depth+1)
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); lists(inner) {
			f.add(inner, path, depth+1)
			return
		}
		f.addText(err, path)
	default:
		f.addText(err, path)
	}
}

func (f *finder) addAll(errs []error, path string, depth int) {
	for _, err := range errs {
		if len(f.list) >= xvalid.MaxFailures {
			return
		}
		f.add(err, path, depth)
	}
}

// addField adds the failure of a field, or those of the message in it. A cause that names
// no field is left out: it may be the error of a parser, which quotes what it read.
func (f *finder) addField(e fieldError, path string, depth int) {
	keyed, generated := e.(interface{ Key() bool })
	field := shown(e.Field(), generated && keyed.Key())
	if c, ok := e.(interface{ Cause() error }); ok {
		if cause := c.Cause(); lists(cause) {
			before := len(f.list)
			if f.add(cause, under(path, field), depth+1); len(f.list) > before {
				return
			}
		}
	}
	if f.head == noHead {
		f.head = len(f.list)
	}
	f.list = append(f.list, xvalid.FieldError{
		Field: under(path, field), Tag: TagInvalid,
		Message: e.Reason(),
	})
}

// addText adds an error that names no field, but came with others that do. Its text is
// for the caller alone.
func (f *finder) addText(err error, path string) {
	var text string
	if code := xerror.From(err).GetErrorCode(); code != xerror.ServerInternalError {
		text = code.Message(f.language)
	} else {
		text = rpcstatus.Text(err.Error())
	}
	f.list = append(f.list, xvalid.FieldError{Field: path, Tag: TagInvalid, Message: text})
}

// under returns the path of a field of the message at path.
func under(path, field string) string {
	if path == "" || field == "" {
		return path + field
	}
	return path + "." + field
}

// indexed is the path of a field in whose brackets only the index of a list can be. No
// message is large enough for more digits.
var indexed = regexp.MustCompile(`^[^\[\]]*(\[\d{1,7}\][^\[\]]*)*$`)

// shown returns the name of a field without the key of a map: a key comes from the
// client, and may be what failed.
func shown(field string, keyFailed bool) string {
	name, _, found := strings.Cut(field, "[")
	if found && (keyFailed || !indexed.MatchString(field)) {
		return name + "[*]"
	}
	return field
}
