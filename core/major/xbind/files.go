package xbind

import (
	"context"
	"mime/multipart"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/internal/phrase"
)

// checkFiles checks the uploads of a form, and makes their names safe.
func (p *formPlan) checkFiles(
	ctx context.Context, s *Strictness, uploads map[string][]*multipart.FileHeader,
) *xerror.Error {
	for _, f := range p.files {
		if !f.many && len(uploads[f.name]) > 1 && !s.AllowDuplicateKeys {
			return fieldError(ctx, xerror.BodyError, phrase.Shown(f.name), "duplicate",
				textDuplicate)
		}
		for _, file := range uploads[f.name] {
			if s.MaxFileBytes > 0 && file.Size > s.MaxFileBytes {
				limit := strconv.FormatInt(s.MaxFileBytes, 10)
				return fieldError(ctx, xerror.FileSizeExceeded, phrase.Shown(f.name), "max_bytes",
					textFileSize, limit)
			}
			file.Filename = FileName(file.Filename)
		}
	}
	return nil
}

// setFiles sets all files of a value to the uploads of a form, and removes those that
// have none.
func (p *formPlan) setFiles(v reflect.Value, uploads map[string][]*multipart.FileHeader) {
	for _, f := range p.files {
		files := uploads[f.name]
		field, ok := f.find(v, len(files) > 0)
		if !ok {
			continue
		}
		field.SetZero()
		for _, file := range files {
			setFile(field, file)
		}
	}
}

// find returns the field in v. If a pointer on the way is nil, allocate makes what it
// points to, else there is no field.
func (f fileField) find(v reflect.Value, allocate bool) (field reflect.Value, ok bool) {
	for _, i := range f.index {
		for v.Kind() == reflect.Pointer {
			if v.IsNil() && !allocate {
				return v, false
			}
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, true
}

// setFile sets a file header or a pointer to one, or appends to a list of either.
func setFile(field reflect.Value, file *multipart.FileHeader) {
	if field.Kind() == reflect.Slice {
		field.Grow(1)
		field.SetLen(field.Len() + 1)
		field = field.Index(field.Len() - 1)
	}
	v := reflect.ValueOf(file)
	if field.Kind() != reflect.Pointer {
		v = v.Elem()
	}
	field.Set(v)
}

// maxFileName is the length of a name in bytes that common file systems accept.
const maxFileName = 255

// FileName returns the last element of a path that a client sent, as a name that is safe
// in a folder: no separator, control character or invalid UTF-8, no leading or trailing
// dot or space, at most 255 bytes. A name of which nothing is left is "file". Form does
// so with the names of files. The name is still the client's choice: two files may have
// the same.
func FileName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || strings.ContainsRune(`<>:"|?*`, r) || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	name = strings.Trim(name, ". ")
	if len(name) > maxFileName {
		extension := filepath.Ext(name)
		if len(extension) > maxFileName/2 {
			extension = ""
		}
		// without a part of a character
		stem := strings.ToValidUTF8(name[:maxFileName-len(extension)], "")
		name = strings.TrimRight(stem, ". ") + extension
	}
	if name == "" {
		return "file"
	}
	return name
}
