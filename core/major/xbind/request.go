package xbind

import (
	"cmp"
	"context"
	"net/url"
	"reflect"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
)

// Request binds all parts of the request and then validates the struct once.
//
// Fields with a uri, form or header tag are parameters in the path, the query or the
// headers. All other fields are the members of the JSON body, unless they have the tag
// json:"-". A member of the body never fills a parameter.
//
// If T contains files (see Binder.Form) or embeds Form, the body is a form, and the
// fields with a form tag are its fields. An Upload or a Raw gives the handler the body
// itself.
//
// If the tags of T contradict each other, the error is a DeveloperError; LayoutOf returns
// the reason.
func (b *Binder[T]) Request() *T {
	dst, t := orNew(b.dst), reflect.TypeFor[T]()
	l := layoutOf(t)
	if l.err != nil {
		report(b.c, xerror.Wrap(xerror.DeveloperError, "", l.err))
		return nil
	}
	v := reflect.ValueOf(dst).Elem()
	form, ok := b.readBody(l, v)
	if !ok || !l.readParams(b.c, v, form) {
		return nil
	}
	if err := xvalid.Validate(b.c, dst); err != nil {
		report(b.c, xvalid.ErrorIn(b.c.Request.Context(), err, t, l.locate))
		return nil
	}
	return dst
}

// readBody fills v from the body, apart from the text fields of a form, which it returns.
func (b *Binder[T]) readBody(l *Layout, v reflect.Value) (form url.Values, ok bool) {
	switch l.Body {
	case BodyJSON:
		return nil, readBody(b.c, strictnessOf(b.c, b.opts), l.json, v.Addr().Interface())
	case BodyForm, BodyFiles:
		form, err := formValues(b.c, l.form, b.opts)
		if err != nil {
			return nil, report(b.c, err)
		}
		l.form.setFiles(v, form.File)
		return form.Value, true
	case BodyUpload, BodyRaw:
		field := v.FieldByIndex(l.special)
		return nil, l.openBody(b.c, field, strictnessOf(b.c, b.opts))
	default:
		return nil, true
	}
}

// readParams fills v from the path, the query, the headers and the text fields of the
// form. It reports all values with a wrong type.
func (l *Layout) readParams(c *gin.Context, v reflect.Value, form url.Values) bool {
	values := form // a struct with a form has no query parameters
	if l.hasQuery && c.Request.URL.RawQuery != "" {
		query, err := url.ParseQuery(c.Request.URL.RawQuery)
		if err != nil { // it quotes the query, so the response does not contain it
			return report(c, newError(c.Request.Context(), xerror.ParameterError, msgQuery))
		}
		values = query
	}
	var list []xvalid.FieldError
	var code *xerror.ErrorCode // of the first failure
	for _, params := range [...][]Param{l.Params, l.FormFields} {
		for i := range params {
			p := &params[i]
			if !p.File && p.read(c, values, v.FieldByIndex(p.Field.Index)) != nil {
				code = cmp.Or(code, p.code())
				list = append(list, p.failure(c.Request.Context()))
			}
		}
	}
	return list == nil ||
		report(c, xerror.WrapData(code, xerror.ErrMessage(list[0].Message), nil, list))
}

// read sets field to the parameter. form contains the query or the text fields of a form.
func (p *Param) read(c *gin.Context, form url.Values, field reflect.Value) error {
	var values []string
	switch p.From {
	case xvalid.Path:
		text, ok := c.Params.Get(p.Name)
		if ok && p.setText != nil {
			return p.setText(field, text)
		}
		if ok {
			values = []string{text}
		}
	case xvalid.Header:
		values = c.Request.Header[p.Name]
	default:
		values = form[p.Name]
	}
	switch {
	case len(values) > 0 && p.setText != nil:
		return p.setText(field, values[0])
	case len(values) > 0 || p.hasDefault:
		return p.set(field, values)
	default:
		return nil
	}
}

// code returns the code of a value that cannot be converted. A type that converts text
// itself has a format, so its failure is that of a rule.
func (p *Param) code() *xerror.ErrorCode {
	if reflect.PointerTo(elementType(p.Field.Type)).Implements(unmarshalerType) {
		return p.From.Code()
	}
	return p.From.TypeCode()
}

func (p *Param) failure(ctx context.Context) xvalid.FieldError {
	return xvalid.TypeFailure(ctx, p.Name, elementType(p.Field.Type), p.Field.Tag.Get("time_format"))
}

// locate returns the source and the name of a field by its Go path.
func (l *Layout) locate(path string) (from xvalid.Source, name string) {
	if p := l.byPath[path]; p != nil {
		return p.From, p.Name
	}
	return xvalid.Body, ""
}
