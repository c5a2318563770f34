package xapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/internal/probe"
	"github.com/plinthgo/plinth/core/major/xbind"
)

// Response is the kind of the response to a successful request.
type Response uint8

// Kinds of responses.
const (
	// ResponseEnvelope is the envelope with the result as data.
	ResponseEnvelope Response = iota
	// ResponseJSON is a JSON value without the envelope.
	ResponseJSON
	// ResponseEmpty is 204 without a body.
	ResponseEmpty
	// ResponseStream is a stream of JSON lines or server-sent events.
	ResponseStream
	// ResponseDownload is a file.
	ResponseDownload
)

// Operation describes a route. It must not be modified.
type Operation struct {
	// Method and Path are those of gin, such as GET and /users/:id.
	Method, Path string
	// ID is the operation ID.
	ID string
	// Function is the qualified name of the handler, such as example.com/shop/user.Create
	// or example.com/shop/user.(*Handler).Create. It is empty for a function literal.
	Function string
	// Position is the file and the line of the handler or of its registration.
	Position string

	// In is the type of the input, and Layout describes how it is filled.
	In     reflect.Type
	Layout *xbind.Layout
	// Response is the kind of the response, and Status its status.
	Response Response
	Status   int
	// Data is the type of the data of an envelope, of a JSON value or of the items of a
	// stream. It is nil for other responses and for an envelope without data.
	Data reflect.Type
	// Events reports whether the items of a stream are events whose data is Data.
	Events bool
	// Profile is the profile of the envelope, or nil for that of the application.
	Profile *xbase.Profile
	// Headers are the fields of the result that are response headers.
	Headers []Header

	// The rest is set by the options.

	Message              string
	Errors               []*xerror.ErrorCode
	Tags, Security       []string
	Summary, Description string
	Deprecated, Hidden   bool

	err error // errors of the developer
}

// Header is a field of a result that is a response header.
type Header struct {
	Name  string
	Field reflect.StructField
}

// Operations returns the operations of all typed and described routes of engine, sorted
// like engine.Routes. The error joins the contradictions of all routes.
func Operations(engine *gin.Engine) ([]*Operation, error) {
	var list []*Operation
	var errs []error
	for _, r := range probe.Routes(engine) {
		op, _ := r.Description.(*Operation)
		list, errs = append(list, op), append(errs, r.Err)
	}
	return list, errors.Join(errs...)
}

func newOperation[In, Out any](h any, c config) *Operation {
	op := &Operation{
		In: reflect.TypeFor[In](), Status: cmp.Or(c.status, http.StatusOK),
		Errors: c.errors, Tags: c.tags, Security: c.security, Summary: c.summary,
		Description: c.description, Deprecated: c.deprecated, Hidden: c.hidden,
		Profile: c.profile,
	}
	op.Function, op.Position = locate(h)
	op.ID = cmp.Or(c.id, operationID(op.Function))
	op.Layout, op.err = xbind.LayoutOf(op.In)
	op.setResult(reflect.TypeFor[Out]())
	op.Message = cmp.Or(c.message, http.StatusText(op.Status))
	op.checkStatus()
	return op
}

func (op *Operation) fail(format string, args ...any) {
	op.err = errors.Join(op.err, fmt.Errorf(format, args...))
}

// describe completes the operation with its route and checks both.
func (op *Operation) describe(r *probe.Route) {
	copied := *op
	copied.Method, copied.Path = r.Method, r.Path
	copied.ID = cmp.Or(op.ID, pathID(r.Method, r.Path))
	r.Description, r.Err = &copied, copied.check()
}

// locate returns the name of a function, and the file and the line of its declaration or,
// for a method value, of the registration of the route.
func locate(h any) (function, position string) {
	f := runtime.FuncForPC(reflect.ValueOf(h).Pointer())
	file, line := f.FileLine(f.Entry())
	name, method := strings.CutSuffix(f.Name(), "-fm")
	if method {
		file, line = caller()
	}
	dir, base := path.Split(file)
	position = fmt.Sprintf("%s:%d", path.Join(path.Base(dir), base), line)
	if !method && isLiteral(name) {
		return "", position
	}
	return strings.ReplaceAll(name, "[...]", ""), position // type arguments
}

// isLiteral reports whether the name is that of a function literal, such as
// example.com/shop.routes.func1.
func isLiteral(name string) bool {
	_, number, found := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ".func")
	return found && number != "" && number[0] >= '0' && number[0] <= '9'
}

// caller returns the first position outside of this package.
func caller() (file string, line int) {
	const skip, depth = 2, 16
	pcs := make([]uintptr, depth)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(skip, pcs)])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, packagePath+".") || !more {
			return frame.File, frame.Line
		}
	}
}

const packagePath = "github.com/plinthgo/plinth/core/major/xapi"

// operationID returns createUser for the function CreateUser, and createUsers for the
// method (*Users).Create.
func operationID(function string) string {
	_, name, _ := strings.Cut(function[strings.LastIndexByte(function, '/')+1:], ".")
	receiver, method, found := strings.Cut(name, ".")
	if !found {
		return lowerWord(name)
	}
	return lowerWord(method) + upperFirst(strings.Trim(receiver, "(*)"))
}

// pathID returns getUsersById for GET /users/:id.
func pathID(method, path string) string {
	var id strings.Builder
	id.WriteString(strings.ToLower(method))
	for segment := range strings.SplitSeq(path, "/") {
		name := strings.TrimLeft(segment, ":*")
		if name != segment {
			id.WriteString("By")
		}
		id.WriteString(upperFirst(name))
	}
	return strings.Map(func(r rune) rune {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, id.String())
}

// lowerWord converts the first word to lower case: createUser for CreateUser, and apiKeys
// for APIKeys.
func lowerWord(s string) string {
	runes := []rune(s)
	for i, r := range runes {
		if !unicode.IsUpper(r) || i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			break
		}
		runes[i] = unicode.ToLower(r)
	}
	return string(runes)
}

func upperFirst(s string) string { return mapFirst(s, unicode.ToUpper) }

func mapFirst(s string, convert func(rune) rune) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(convert(r)) + s[size:]
}
