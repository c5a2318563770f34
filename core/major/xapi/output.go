package xapi

import (
	"fmt"
	"iter"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// The types of special inputs, described in package xbind.
type (
	// File is an uploaded file, stored in memory or in a temporary file. Fields of the
	// types *File and []*File accept files.
	File = xbind.File
	// Form marks an input whose form fields are the body.
	Form = xbind.Form
	// Upload gives the handler a multipart form while the client sends it.
	Upload = xbind.Upload
	// Raw gives the handler a body of any type.
	Raw = xbind.Raw
)

// JSON is the result of a handler whose response is the JSON value itself, without the
// envelope, for clients that expect another format. Errors still have the envelope.
type JSON[T any] struct{ Value T }

func (j JSON[T]) value() any { return j.Value }

type plain interface{ value() any }

// Event is an item of a stream with the fields of a server-sent event. A handler that
// returns an iter.Seq2[Event[T], error] continues after the event whose ID is in an input
// field with the tag header:"Last-Event-ID".
type Event[T any] = xresult.Event[T]

// Empty is the result of a handler whose response is 204 without a body.
type Empty struct{}

var (
	emptyType    = reflect.TypeFor[Empty]()
	downloadType = reflect.TypeFor[*Download]()
	errorType    = reflect.TypeFor[error]()
	noDataType   = reflect.TypeFor[struct{}]()
	plainType    = reflect.TypeFor[plain]()
)

// setResult derives the kind of the response from the type of the result.
func (op *Operation) setResult(t reflect.Type) {
	switch {
	case t == emptyType || t == reflect.PointerTo(emptyType):
		op.Response, op.Status = ResponseEmpty, http.StatusNoContent
	case t == downloadType:
		op.Response, op.Status = ResponseDownload, http.StatusOK
	case t.Implements(plainType) && t.Kind() == reflect.Struct:
		op.Response, op.Data = ResponseJSON, t.Field(0).Type
	case isStream(t):
		op.Response, op.Status = ResponseStream, http.StatusOK
		op.Data, op.Events = eventData(t.In(0).In(0))
	case t == noDataType || t == reflect.PointerTo(noDataType):
	default:
		op.Data = t
		op.addHeaders(t)
	}
}

// isStream reports whether t is an iter.Seq2 of values and errors.
func isStream(t reflect.Type) bool {
	return t.Kind() == reflect.Func && t.CanSeq2() && t.In(0).In(1) == errorType
}

// eventData returns T for an Event[T]. It returns any other type unchanged.
func eventData(t reflect.Type) (data reflect.Type, isEvent bool) {
	event := reflect.TypeFor[Event[any]]()
	generic, _, _ := strings.Cut(event.Name(), "[")
	if t.PkgPath() != event.PkgPath() || !strings.HasPrefix(t.Name(), generic+"[") {
		return t, false
	}
	f, _ := t.FieldByName("Data")
	return f.Type, true
}

// addHeaders adds the fields of a result with a header tag.
func (op *Operation) addHeaders(t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for f := range t.Fields() {
		name := f.Tag.Get("header")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		if f.Tag.Get("json") != "-" {
			op.fail(`field %s of %s is a response header: add the tag json:"-", `+
				"so that it is not part of the data", f.Name, t)
		}
		op.Headers = append(op.Headers, Header{Name: http.CanonicalHeaderKey(name), Field: f})
	}
}

// output writes the result of a handler.
type output struct {
	response Response
	status   int
	message  string
	headers  []Header
	noData   bool
}

func newOutput(op *Operation) *output {
	return &output{
		response: op.Response, status: op.Status, message: op.Message, headers: op.Headers,
		noData: op.Data == nil,
	}
}

func (o *output) write(c *gin.Context, result any) {
	switch o.response {
	case ResponseEmpty:
		c.Status(o.status)
		c.Writer.WriteHeaderNow()
	case ResponseStream:
		xresult.Stream(c, items(result))
	case ResponseJSON:
		o.writeJSON(c, result)
	case ResponseDownload:
		d, _ := result.(*Download)
		d.serve(c)
	default:
		if o.headers != nil {
			o.setHeaders(c.Writer.Header(), result)
		}
		if o.status != http.StatusOK {
			c.Status(o.status)
		}
		if o.noData {
			result = nil
		}
		xresult.SuccessHasData(c, o.message, result)
	}
}

func (o *output) writeJSON(c *gin.Context, result any) {
	j, _ := result.(plain)
	body, err := xbase.AppendValue(nil, j.value())
	if err != nil {
		_ = c.Error(xerror.Wrap(xerror.SerializeError, "", err))
		return
	}
	c.Data(o.status, "application/json; charset=utf-8", body)
}

func (o *output) setHeaders(h http.Header, result any) {
	v := reflect.Indirect(reflect.ValueOf(result))
	if !v.IsValid() {
		return // a nil pointer
	}
	for _, field := range o.headers {
		if values := headerValues(v.FieldByIndex(field.Field.Index)); len(values) > 0 {
			h[field.Name] = values
		}
	}
}

// headerValues returns the values of a header. An empty string, a nil pointer and a zero
// time have no value.
func headerValues(v reflect.Value) []string {
	switch value := v.Interface().(type) {
	case []string:
		return value
	case time.Time:
		if value.IsZero() {
			return nil
		}
		return []string{value.UTC().Format(http.TimeFormat)}
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		return headerValues(v.Elem())
	}
	text := fmt.Sprint(v.Interface())
	if text == "" {
		return nil
	}
	return []string{text}
}

// items converts an iter.Seq2 of any type of items.
func items(seq any) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for item, err := range reflect.ValueOf(seq).Seq2() {
			e, _ := reflect.TypeAssert[error](err)
			if !yield(item.Interface(), e) {
				return
			}
		}
	}
}
