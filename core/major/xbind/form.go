package xbind

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
)

// formTag names the fields of a form.
const formTag = "form"

// formMemory is how much of a form's files stays in memory; the rest are temporary files. It is the
// number of net/http and gin.
const formMemory = 32 << 20

// readForm reads and decodes the form in the body, and reports what is wrong with it.
func readForm[T any](c *gin.Context, s Strictness, dst *T) bool {
	form, err := parseForm(c, &s)
	if err == nil {
		err = decodeForm(c.Request.Context(), &s, form, dst)
	}
	return err == nil || report(c, err)
}

// parseForm returns the form, which another middleware may have read already.
func parseForm(c *gin.Context, s *Strictness) (*multipart.Form, *xerror.Error) {
	r, ctx := c.Request, c.Request.Context()
	media, err := formMedia(r)
	switch {
	case err != nil:
		return nil, err
	case r.MultipartForm != nil && r.MultipartForm.Value != nil:
		return r.MultipartForm, nil
	case media == gin.MIMEPOSTForm && r.PostForm != nil:
		return &multipart.Form{Value: r.PostForm}, nil
	case isEmpty(r):
		return nil, xerror.New(xerror.BodyEmpty, say(ctx, textEmpty, ""))
	case s.MaxBytes > 0 && r.ContentLength > s.MaxBytes:
		return nil, tooLarge(ctx, s.MaxBytes)
	case media == gin.MIMEPOSTForm:
		return parseURLEncoded(r, s)
	default:
		return parseMultipart(c, s)
	}
}

func isEmpty(r *http.Request) bool {
	return r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0
}

// formMedia accepts a form in UTF-8 without a content coding.
func formMedia(r *http.Request) (string, *xerror.Error) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return "", xerror.New(xerror.UnsupportedMedia, say(r.Context(), textEncoding, ""))
	}
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset, named := params["charset"]
	known := media == gin.MIMEPOSTForm || media == gin.MIMEMultipartPOSTForm && params["boundary"] != ""
	if err != nil || !known || named && !strings.EqualFold(charset, "utf-8") {
		return "", xerror.New(xerror.UnsupportedMedia, say(r.Context(), textForm, ""))
	}
	return media, nil
}

func parseURLEncoded(r *http.Request, s *Strictness) (*multipart.Form, *xerror.Error) {
	w, _ := works.Get().(*work)
	defer w.release()
	if err := w.read(r, s.MaxBytes); err != nil {
		return nil, err
	}
	values, err := url.ParseQuery(string(w.buf))
	if err != nil { // its text quotes the form
		return nil, xerror.New(xerror.BodyError, say(r.Context(), textFormSyntax, ""))
	}
	r.PostForm = values // for c.PostForm
	return &multipart.Form{Value: values}, nil
}

func parseMultipart(c *gin.Context, s *Strictness) (*multipart.Form, *xerror.Error) {
	r := c.Request
	if s.MaxBytes > 0 {
		r.Body = http.MaxBytesReader(c.Writer, r.Body, s.MaxBytes)
	}
	reader, err := r.MultipartReader()
	if err != nil {
		return nil, xerror.New(xerror.UnsupportedMedia, say(r.Context(), textForm, ""))
	}
	form, err := reader.ReadForm(formMemory)
	if err != nil {
		return nil, formError(r.Context(), err)
	}
	r.MultipartForm = form // whose temporary files the request middleware removes
	r.PostForm = form.Value
	return form, nil
}

// formError turns an error of mime/multipart into one for the client.
func formError(ctx context.Context, err error) *xerror.Error {
	if errors.Is(err, multipart.ErrMessageTooLarge) {
		return xerror.Wrap(xerror.UploadTooLarge, say(ctx, textFormParts, ""), err)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	e := xvalid.BindError(ctx, xvalid.Body, err)
	if e.GetErrorCode() == xerror.BodyError && !errors.Is(err, io.ErrUnexpectedEOF) {
		return xerror.New(xerror.BodyError, say(ctx, textFormSyntax, "")) // the error quotes the form
	}
	return e
}

// decodeForm fills dst from the fields and the files of a form.
func decodeForm[T any](ctx context.Context, s *Strictness, form *multipart.Form, dst *T) *xerror.Error {
	files := filesOf(reflect.TypeFor[T](), formTag).fields
	if err := checkNames[T](ctx, s, form, files); err != nil {
		return err
	}
	if err := fillParameters(ctx, xvalid.Body, formTag, dst, form.Value); err != nil {
		return err
	}
	return fillFiles(ctx, s, form.File, files, reflect.ValueOf(dst).Elem())
}

// checkNames finds unknown fields and text that is not UTF-8. It looks at the names in their order, so
// that the same form always gets the same error.
func checkNames[T any](ctx context.Context, s *Strictness, form *multipart.Form, files []fileField) *xerror.Error {
	t := reflect.TypeFor[T]()
	for _, name := range sortedNames(form.Value) {
		if !s.AllowInvalidUTF8 && (!utf8.ValidString(name) || !validTexts(form.Value[name])) {
			return fieldError(ctx, xerror.BodyError, name, "utf8", textFieldUTF8)
		}
		if s.DisallowUnknownFields && t.Kind() == reflect.Struct && !slices.ContainsFunc(parametersOf(t, formTag),
			func(p parameter) bool { return p.name == name }) {
			return fieldError(ctx, xerror.BodyError, name, "unknown", textUnknown)
		}
	}
	for _, name := range sortedNames(form.File) {
		if s.DisallowUnknownFields && !slices.ContainsFunc(files, func(f fileField) bool { return f.name == name }) {
			return fieldError(ctx, xerror.BodyError, name, "unknown", textUnknown)
		}
	}
	return nil
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func validTexts(texts []string) bool {
	return !slices.ContainsFunc(texts, func(s string) bool { return !utf8.ValidString(s) })
}

// fieldError returns an error about one field, whose name is shown if it is short and plain.
func fieldError(ctx context.Context, code *xerror.ErrorCode, name, tag string, p phrase) *xerror.Error {
	field := shown([]byte(name))
	message := say(ctx, p, field)
	return xerror.WrapData(code, message, nil, []xvalid.FieldError{{Field: field, Tag: tag, Message: string(message)}})
}
