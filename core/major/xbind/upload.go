package xbind

import (
	"errors"
	"io"
	"iter"
	"mime"
	"mime/multipart"
	"net/http"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/internal/phrase"
)

const (
	// maxParts is the maximum number of parts of an Upload, as in mime/multipart.
	maxParts = 1000
	// maxText is the maximum size of a text field.
	maxText = 1 << 20
)

// Upload is a multipart form that the handler reads part by part, while the client sends
// it. Use it for files that must not be stored in memory or in a temporary file. As a
// field of a struct, *Upload is filled by Binder.Request.
//
// A request with an Upload has no request timeout (see xhelper.MarkTransfer). The read
// timeout of the server applies to each 64 KiB of the body, not to the whole request.
//
// An Upload is not safe for concurrent use and must not be used after the handler.
type Upload struct {
	r      *http.Request
	reader *multipart.Reader
	limit  int64 // of one part; 0 means no limit
}

// Part is a file or a text field of a form. Read returns its content.
type Part struct {
	// Name is the name of the form field.
	Name string
	// FileName is the sanitized name of the file (see FileName). It is empty for a text
	// field.
	FileName string
	// ContentType is the content type that the client declares. It may be empty or wrong.
	ContentType string

	upload *Upload
	part   *multipart.Part
	read   int64
}

// Parts returns the parts in the order of the form. A part can be read until the loop
// continues. If the form is malformed, has more than 1000 parts or the client
// disconnects, the last pair contains an error. Parts can be called once.
//
//	for part, err := range in.Upload.Parts() {
//		if err != nil {
//			return nil, err
//		}
//		if _, err := io.Copy(object, part); err != nil {
//			return nil, err
//		}
//	}
func (u *Upload) Parts() iter.Seq2[*Part, error] {
	return func(yield func(*Part, error) bool) {
		for n := 0; ; n++ {
			part, err := u.next(n)
			if err == io.EOF {
				return
			}
			if !yield(part, err) || err != nil {
				return
			}
		}
	}
}

// next returns the part after the first n parts, or io.EOF after the last part.
func (u *Upload) next(n int) (*Part, error) {
	part, err := u.reader.NextPart()
	switch {
	case err == io.EOF:
		return nil, err
	case err == nil && n >= maxParts:
		err = multipart.ErrMessageTooLarge
	}
	if err != nil {
		return nil, formError(u.r.Context(), err)
	}
	p := &Part{
		Name: part.FormName(), ContentType: part.Header.Get("Content-Type"),
		upload: u, part: part,
	}
	if !utf8.ValidString(p.Name) {
		return nil, p.fail(xerror.BodyError, "utf8", msgFieldUTF8)
	}
	if name := part.FileName(); name != "" {
		p.FileName = FileName(name)
	}
	return p, nil
}

// Read implements io.Reader. A part above the limit of WithMaxFileBytes fails with
// FileSizeExceeded.
func (p *Part) Read(b []byte) (int, error) {
	n, err := p.part.Read(b)
	p.read += int64(n)
	if limit := p.upload.limit; limit > 0 && p.read > limit {
		return 0, p.fail(xerror.FileSizeExceeded, "max_bytes", msgFileSize,
			strconv.FormatInt(limit, 10))
	}
	if err != nil && err != io.EOF {
		return n, formError(p.upload.r.Context(), err)
	}
	return n, err
}

// Text returns the content of a text field. A field of more than 1 MiB or with invalid
// UTF-8 is an error of the client.
func (p *Part) Text() (string, error) {
	b, err := io.ReadAll(io.LimitReader(p, maxText+1))
	switch {
	case err != nil:
		return "", err
	case len(b) > maxText:
		return "", p.fail(xerror.UploadTooLarge, "max_bytes", msgTextSize, strconv.Itoa(maxText))
	case !utf8.Valid(b):
		return "", p.fail(xerror.BodyError, "utf8", msgFieldUTF8)
	}
	return string(b), nil
}

func (p *Part) fail(code *xerror.ErrorCode, tag string, text phrase.Phrase, params ...string) error {
	return fieldError(p.upload.r.Context(), code, phrase.Shown(p.Name), tag, text, params...)
}

// Raw is a body of any content type, such as an image, that the handler reads. As a field
// of a struct, *Raw is filled by Binder.Request. An empty body is an error of the client.
// The timeouts are those of an Upload.
//
// A Raw is not safe for concurrent use and must not be used after the handler.
type Raw struct {
	io.Reader

	// ContentType is the content type that the client declares. It may be empty or wrong.
	ContentType string
	// Length is the declared length in bytes, or -1 if it is unknown.
	Length int64
}

// rawReader converts read errors to errors of the client.
type rawReader struct{ r *http.Request }

// Read implements io.Reader.
func (b rawReader) Read(p []byte) (int, error) {
	n, err := b.r.Body.Read(p)
	if err != nil && err != io.EOF {
		return n, xvalid.BindError(b.r.Context(), xvalid.Body, err)
	}
	return n, err
}

// openBody sets field to the Upload or Raw of the request.
func (l *Layout) openBody(c *gin.Context, field reflect.Value, s Strictness) bool {
	r := c.Request
	if isEmpty(r) {
		return report(c, newError(r.Context(), xerror.BodyEmpty, phrase.NoBody))
	}
	startTransfer(c)
	if err := limitBody(r, s.MaxBytes); err != nil {
		return report(c, err)
	}
	if l.Body == BodyRaw {
		field.Set(reflect.ValueOf(&Raw{
			Reader: rawReader{r}, ContentType: r.Header.Get("Content-Type"),
			Length: r.ContentLength,
		}))
		return true
	}
	reader, err := multipartReader(r)
	if err != nil {
		return report(c, err)
	}
	field.Set(reflect.ValueOf(&Upload{r: r, reader: reader, limit: s.MaxFileBytes}))
	return true
}

func multipartReader(r *http.Request) (*multipart.Reader, *xerror.Error) {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case isEncoded(r):
		return nil, newError(r.Context(), xerror.UnsupportedMedia, msgEncoding)
	case media != gin.MIMEMultipartPOSTForm:
		return nil, newError(r.Context(), xerror.UnsupportedMedia, msgMultipart)
	}
	reader, err := r.MultipartReader()
	switch {
	case errors.Is(err, http.ErrMissingBoundary):
		return nil, newError(r.Context(), xerror.UnsupportedMedia, msgMultipart)
	case err != nil: // another handler has parsed the form
		return nil, xerror.Wrap(xerror.DeveloperError, "", err)
	}
	return reader, nil
}
