package xbind

import (
	"io"
	"iter"
	"mime/multipart"
	"net/http"
	"reflect"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/internal/phrase"
)

// Upload is a multipart form that the handler reads part by part, while the client sends
// it. Use it for files that must not be stored in memory or in a temporary file. As a
// field of a struct, *Upload is filled by Binder.Request.
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
// continues. If the form is malformed or the client disconnects, the last pair contains
// an error. Parts can be called once.
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
		for {
			part, err := u.reader.NextPart()
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(nil, formError(u.r.Context(), err))
				return
			}
			p := &Part{
				Name: part.FormName(), ContentType: part.Header.Get("Content-Type"),
				upload: u, part: part,
			}
			if name := part.FileName(); name != "" {
				p.FileName = FileName(name)
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// Read implements io.Reader. A part above the limit of WithMaxFileBytes fails with
// FileSizeExceeded.
func (p *Part) Read(b []byte) (int, error) {
	n, err := p.part.Read(b)
	p.read += int64(n)
	ctx := p.upload.r.Context()
	if limit := p.upload.limit; limit > 0 && p.read > limit {
		return 0, fieldError(ctx, xerror.FileSizeExceeded, phrase.Shown(p.Name), "max_bytes",
			msgFileSize, strconv.FormatInt(limit, 10))
	}
	if err != nil && err != io.EOF {
		return n, formError(ctx, err)
	}
	return n, err
}

// Raw is a body of any content type, such as an image, that the handler reads. As a field
// of a struct, *Raw is filled by Binder.Request.
type Raw struct {
	io.Reader

	// ContentType is the content type that the client declares. It may be empty.
	ContentType string
	// Length is the declared length in bytes, or -1 if it is unknown.
	Length int64
}

// openBody sets field to the Upload or Raw of the request.
func (l *Layout) openBody(c *gin.Context, field reflect.Value, s Strictness) bool {
	r := c.Request
	if isEmpty(r) {
		return report(c, newError(r.Context(), xerror.BodyEmpty, phrase.NoBody))
	}
	if err := limitBody(r, s.MaxBytes); err != nil {
		return report(c, err)
	}
	if l.Body == BodyRaw {
		field.Set(reflect.ValueOf(&Raw{
			Reader: r.Body, ContentType: r.Header.Get("Content-Type"), Length: r.ContentLength,
		}))
		return true
	}
	reader, err := r.MultipartReader()
	if err != nil {
		return report(c, xvalid.BindError(r.Context(), xvalid.Body, err))
	}
	field.Set(reflect.ValueOf(&Upload{r: r, reader: reader, limit: s.MaxFileBytes}))
	return true
}
