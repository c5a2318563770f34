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

// File is an uploaded file. Binder.Form and Binder.Request fill fields of the types
// *File, File and slices of either.
type File = multipart.FileHeader

// checkFiles checks the number and size of uploaded files and sanitizes their names.
func (p *formPlan) checkFiles(
	ctx context.Context, s *Strictness, uploads map[string][]*multipart.FileHeader,
) *xerror.Error {
	for _, f := range p.files {
		if !f.many && len(uploads[f.name]) > 1 && !s.AllowDuplicateKeys {
			return fieldError(ctx, xerror.BodyError, phrase.Shown(f.name), "duplicate",
				msgDuplicate)
		}
		for _, file := range uploads[f.name] {
			if s.MaxFileBytes > 0 && file.Size > s.MaxFileBytes {
				limit := strconv.FormatInt(s.MaxFileBytes, 10)
				return fieldError(ctx, xerror.FileSizeExceeded, phrase.Shown(f.name), "max_bytes",
					msgFileSize, limit)
			}
			file.Filename = FileName(file.Filename)
		}
	}
	return nil
}

// setFiles sets all file fields of v from uploads. It clears fields without an upload.
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

// find returns the field in v. If a pointer on its path is nil, find allocates the
// target, or returns false if allocate is false.
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

// setFile sets field, a file header or a pointer to one, to file. If field is a slice,
// setFile appends to it.
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

// maxFileName is the maximum length of a file name in bytes on common file systems.
const maxFileName = 255

// FileName returns the last element of a client's path as a safe file name. The result
// contains no separator, control character or invalid UTF-8, and no leading or trailing
// dot or space. It has at most 255 bytes. If nothing remains, FileName returns "file".
//
// Form applies FileName to the names of files. A client still selects the name, so two
// files may have the same name.
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
		// remove a truncated character
		stem := strings.ToValidUTF8(name[:maxFileName-len(extension)], "")
		name = strings.TrimRight(stem, ". ") + extension
	}
	if name == "" {
		return "file"
	}
	return name
}
