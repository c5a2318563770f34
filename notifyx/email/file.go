package email

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"mime"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/wneessen/go-mail"
)

// maxFileName limits the name of a file, in bytes.
const maxFileName = 255

// file is a validated File.
type file struct {
	File
	inline bool
}

// filesOf validates the files of m.
func filesOf(m *Message) ([]file, error) {
	var out []file
	var problems []error
	ids := map[string]bool{}
	if len(m.Inlines) > 0 && m.HTML == "" && m.Template == "" {
		problems = append(problems, errors.New("field Inlines requires HTML"))
	}
	check := func(kind string, list []File, inline bool) {
		for i, f := range list {
			got, err := f.check(inline)
			if err == nil && inline && ids[got.ContentID] {
				err = errors.New("its ContentID is duplicated")
			}
			if err != nil {
				problems = append(problems, fmt.Errorf("%s %d: %w", kind, i+1, err))
			}
			ids[got.ContentID] = true
			out = append(out, got)
		}
	}
	check("inline file", m.Inlines, true)
	check("attachment", m.Attachments, false)
	return out, errors.Join(problems...)
}

// check validates the file and sets the defaults of the media type and the ContentID.
func (f File) check(inline bool) (file, error) {
	out := file{f, inline}
	if err := checkFileName(f.Name); err != nil {
		return out, err
	}
	var err error
	if out.ContentType, err = f.mediaType(); err != nil {
		return out, err
	}
	if inline {
		out.ContentID = cmp.Or(f.ContentID, f.Name)
	}
	switch {
	case f.Content == nil:
		return out, errors.New("it has no Content")
	case !inline && f.ContentID != "":
		return out, errors.New("only inline files have a ContentID")
	case !validContentID(out.ContentID):
		return out, errors.New("its ContentID may only contain letters, digits and . _ - @")
	}
	return out, nil
}

// checkFileName rejects names that forge header fields, contain directories or display
// misleadingly.
func checkFileName(name string) error {
	switch {
	case name == "" || name == "." || name == "..":
		return errors.New("it has no name")
	case strings.ContainsFunc(name, unprintable), !utf8.ValidString(name),
		strings.ContainsAny(name, `/\`):
		return errors.New("its name has invalid characters")
	case hasEncodedWord(name):
		return errors.New("its name contains an encoded word (RFC 2047)")
	case len(name) > maxFileName:
		return fmt.Errorf("its name is longer than %d bytes", maxFileName)
	}
	return nil
}

// mediaType returns the media type with its parameters.
func (f File) mediaType() (string, error) {
	text := f.ContentType
	if text == "" {
		text = mime.TypeByExtension(path.Ext(f.Name))
	}
	if text == "" {
		text = string(mail.TypeAppOctetStream)
	}
	base, params, err := mime.ParseMediaType(text)
	if err != nil || !strings.Contains(base, "/") || len(text) > maxFileName {
		return "", errors.New("its ContentType is not a media type")
	}
	if strings.HasPrefix(base, "multipart/") || strings.HasPrefix(base, "message/") {
		return "", errors.New("its ContentType cannot be encoded as a file")
	}
	if params == nil {
		params = map[string]string{}
	}
	params["name"] = f.Name // for clients that do not support Content-Disposition
	full := mime.FormatMediaType(base, params)
	if full == "" {
		return "", errors.New("its ContentType is not a media type")
	}
	return full, nil
}

// validContentID reports whether s is valid in <> and after cid: without escaping.
func validContentID(s string) bool {
	return len(s) <= maxFileName && !strings.ContainsFunc(s, func(r rune) bool {
		return !alphanumeric(r) && !strings.ContainsRune("._-@", r)
	})
}

// addTo adds the file to msg. Names with non-ASCII characters are encoded according to
// RFC 2231.
func (f file) addTo(msg *mail.Msg) {
	kind, add := "attachment", msg.AttachReadSeeker
	if f.inline {
		kind, add = "inline", msg.EmbedReadSeeker
	}
	add(f.Name, bytes.NewReader(f.Content), func(out *mail.File) {
		out.Header.Set(string(mail.HeaderContentType), f.ContentType)
		out.Header.Set(string(mail.HeaderContentDisposition),
			mime.FormatMediaType(kind, map[string]string{"filename": f.Name}))
		if f.inline {
			out.Header.Set(string(mail.HeaderContentID), "<"+f.ContentID+">")
		}
	})
}
