package validation

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
)

// TagInvalid is the tag of a failure whose rule is not known: protoc-gen-validate does not name its rules.
const TagInvalid = "invalid"

const (
	// maxDepth bounds the errors within errors below which a failure is told of the message and no longer of its
	// field. A client may nest a recursive message thousands of times. A level of messages takes two: the list and
	// an entry of it.
	maxDepth = 64

	// maxKey is the longest key of a map that is shown in a path, as over HTTP.
	maxKey = 32

	// maxField is the longest name with keys in it that is shown as it is.
	maxField = 256
)

// The shapes of the errors that protoc-gen-validate generates. The package itself is not imported: an application
// that does not use it shall not link it.
type (
	// fieldError is what is wrong with one field. It may also have Cause() error and Key() bool.
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
	return !isNil(err) && (errors.As(err, &multi) || errors.As(err, &field))
}

// findings returns what err says of fields, at most xvalid.MaxFailures, and the index of the first that names one and
// the rule that it breaks, or noHead. Any other text may be of any source.
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
	if isNil(err) || depth > maxDepth {
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

// addField adds the failure of a field, or those of the message in it. A cause that names no field is left out: it may
// be the error of a parser, which quotes what it read.
func (f *finder) addField(e fieldError, path string, depth int) {
	keyed, generated := e.(interface{ Key() bool })
	field := maskKeys(e.Field(), generated)
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
	field = maskLast(field, generated && keyed.Key())
	f.list = append(f.list, xvalid.FieldError{Field: under(path, field), Tag: TagInvalid, Message: e.Reason()})
}

// addText adds an error that names no field, but came with others that do. Its text is for the caller alone.
func (f *finder) addText(err error, path string) {
	var text string
	if code := xerror.From(err).GetErrorCode(); code != xerror.ServerInternalError {
		text = code.Message(f.language)
	} else {
		text = bounded(err.Error())
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

// MaskKey returns the key of a map as it may stand in a path: itself where it has at most 32 characters of
// A-Z a-z 0-9 _ -, else "*". A key comes from the client.
func MaskKey(key string) string {
	if key == "" || len(key) > maxKey || strings.ContainsFunc(key, notPlain) {
		return "*"
	}
	return key
}

func notPlain(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
}

// A name whose brackets open and close in turn, with plain names between them. Any other holds a key with brackets.
var (
	indexed = regexp.MustCompile(`^[^\[\]]*(\[[^\[\]]*\](\.\w+)?)+$`)
	bracket = regexp.MustCompile(`\[[^\[\]]*\]`)
	index   = regexp.MustCompile(`^\[\d{1,7}\]$`) // no message is large enough for more
)

// maskKeys masks what stands in brackets in the name of a field. Where it cannot be told where a key ends, nothing of
// it is left. A generated name holds at most one key.
func maskKeys(field string, generated bool) string {
	name, rest, found := strings.Cut(field, "[")
	if !found {
		return field
	}
	if generated && strings.Contains(rest, "[") || len(field) > maxField || !indexed.MatchString(field) {
		return name + "[*]"
	}
	return bracket.ReplaceAllStringFunc(field, func(k string) string { return "[" + MaskKey(k[1:len(k)-1]) + "]" })
}

// maskLast masks the key at the end of the name of a field that failed, unless it can only be the index of a list: a
// key may be what failed, which protoc-gen-validate says of few of its rules.
func maskLast(field string, keyFailed bool) string {
	at := strings.LastIndexByte(field, '[')
	if at < 0 || !strings.HasSuffix(field, "]") {
		return field
	}
	if !keyFailed && index.MatchString(field[at:]) {
		return field
	}
	return field[:at] + "[*]"
}
