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
	"github.com/plinthgo/plinth/core/common/xvalid"
)

// fillFiles fills the files of dst from the uploads of a form.
func fillFiles(ctx context.Context, s *Strictness, given map[string][]*multipart.FileHeader, fields []fileField, dst reflect.Value) *xerror.Error {
	for _, f := range fields {
		files := given[f.name]
		if !f.many && len(files) > 1 && !s.AllowDuplicateKeys {
			return fieldError(ctx, xerror.BodyError, f.name, "duplicate", textDuplicate)
		}
		for _, file := range files {
			if s.MaxFileBytes > 0 && file.Size > s.MaxFileBytes {
				return tooLargeFile(ctx, f.name, s.MaxFileBytes)
			}
			file.Filename = FileName(file.Filename)
		}
		f.set(dst, files)
	}
	return nil
}

func tooLargeFile(ctx context.Context, name string, limit int64) *xerror.Error {
	message := say(ctx, textFileSize, strconv.FormatInt(limit, 10))
	return xerror.WrapData(xerror.FileSizeExceeded, message, nil, []xvalid.FieldError{
		{Field: shown([]byte(name)), Tag: "max_bytes", Message: string(message)},
	})
}

// maxFileName is the length of a name in bytes that common file systems accept.
const maxFileName = 255

// FileName returns the last element of a path that a client sent, as a name that is safe in a folder: no
// separator, control character or invalid UTF-8, no leading or trailing dot or space, at most 255 bytes. A
// name of which nothing is left is "file". Form does so with the names of files. The name is still the
// client's choice: two files may have the same.
func FileName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) || strings.ContainsRune(`<>:"|?*`, r) || !unicode.IsPrint(r) && r != ' ' {
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
		name = strings.TrimRight(cut(name, maxFileName-len(extension)), ". ") + extension
	}
	if name == "" {
		return "file"
	}
	return name
}

// cut returns the first n bytes of s or fewer, without a part of a character.
func cut(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
