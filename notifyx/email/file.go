package email

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/wneessen/go-mail"
)

// maxFileName bounds the name of a file, in bytes.
const maxFileName = 255

// file is a File, checked and read.
type file struct {
	name, contentType string
	contentID         string // of an inline file
	content           []byte
}

// files checks and reads the files of m. All of them together are no larger than a message may be.
func (c *EmailClient) files(m *Message) ([]file, error) {
	var (
		out      []file
		problems []error
		ids      = map[string]bool{}
		room     = c.config.MaxSize
	)
	if len(m.Inlines) > 0 && m.HTML == "" && m.Template == "" {
		problems = append(problems, errors.New("it has Inlines and no HTML that shows them"))
	}
	read := func(kind string, list []File, inline bool) {
		for i, f := range list {
			got, err := f.read(room, inline)
			switch {
			case errors.Is(err, errTooLarge):
				err = c.config.tooLarge()
			case err == nil && inline && ids[got.contentID]:
				err = errors.New("its ContentID is there twice")
			}
			if err != nil {
				problems = append(problems, fmt.Errorf("%s %d: %w", kind, i+1, err))
				continue
			}
			ids[got.contentID] = true
			room -= len(got.content)
			out = append(out, got)
		}
	}
	read("inline file", m.Inlines, true)
	read("attachment", m.Attachments, false)
	return out, errors.Join(problems...)
}

// errTooLarge reports content that does not fit.
var errTooLarge = errors.New("it is too large")

// read checks f and reads at most room bytes.
func (f File) read(room int, inline bool) (file, error) {
	out := file{name: f.Name}
	if err := checkFileName(f.Name); err != nil {
		return out, err
	}
	var err error
	if out.contentType, err = f.mediaType(); err != nil {
		return out, err
	}
	switch {
	case inline:
		out.contentID = f.ContentID
		if out.contentID == "" {
			out.contentID = f.Name
		}
		if !isContentID(out.contentID) {
			return out, errors.New("its ContentID has other characters than letters, digits, and . _ - @")
		}
	case f.ContentID != "":
		return out, errors.New("it has a ContentID, which only an inline file has")
	}
	out.content, err = f.readContent(room)
	return out, err
}

// checkFileName refuses names that forge a header field, leave a folder or are shown as other than they are.
func checkFileName(name string) error {
	switch {
	case name == "" || name == "." || name == "..":
		return errors.New("it has no name")
	case strings.ContainsFunc(name, unprintable), !utf8.ValidString(name), strings.ContainsAny(name, `/\`):
		return errors.New("its name has characters that no file's name has")
	case hasEncodedWord(name):
		return errors.New("its name has an encoded word (RFC 2047), which a reader would decode")
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
		return "", errors.New("its ContentType is no media type")
	}
	if strings.HasPrefix(base, "multipart/") || strings.HasPrefix(base, "message/") {
		return "", errors.New("its ContentType is one that cannot be encoded as a file")
	}
	if params == nil {
		params = map[string]string{}
	}
	params["name"] = f.Name // for readers that know no Content-Disposition
	full := mime.FormatMediaType(base, params)
	if full == "" {
		return "", errors.New("its ContentType is no media type")
	}
	return full, nil
}

// isContentID reports whether s can stand in <> and behind cid: without any escape.
func isContentID(s string) bool {
	return len(s) <= maxFileName && !strings.ContainsFunc(s, func(r rune) bool {
		return !alphanumeric(r) && !strings.ContainsRune("._-@", r)
	})
}

// readContent reads the one source that f has.
func (f File) readContent(room int) ([]byte, error) {
	switch {
	case f.sources() != 1:
		return nil, errors.New("it has not exactly one of Content, Reader and FS")
	case f.FS != nil:
		opened, err := f.FS.Open(f.Path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = opened.Close() }() // it was only read
		return readAtMost(opened, room)
	case f.Reader != nil:
		return readAtMost(f.Reader, room)
	case len(f.Content) > room:
		return nil, errTooLarge
	default:
		return f.Content, nil
	}
}

func (f File) sources() int {
	n := 0
	for _, given := range []bool{f.Content != nil, f.Reader != nil, f.FS != nil} {
		if given {
			n++
		}
	}
	return n
}

func readAtMost(r io.Reader, room int) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, int64(room)+1))
	if err == nil && len(content) > room {
		err = errTooLarge
	}
	return content, err
}

// addTo adds the file to msg. Names beyond ASCII are written after RFC 2231.
func (f file) addTo(msg *mail.Msg) {
	kind, add := "attachment", msg.AttachReadSeeker
	if f.contentID != "" {
		kind, add = "inline", msg.EmbedReadSeeker
	}
	add(f.name, bytes.NewReader(f.content), func(out *mail.File) {
		out.Header.Set(string(mail.HeaderContentType), f.contentType)
		out.Header.Set(string(mail.HeaderContentDisposition), mime.FormatMediaType(kind, map[string]string{"filename": f.name}))
		if f.contentID != "" {
			out.Header.Set(string(mail.HeaderContentID), "<"+f.contentID+">")
		}
	})
}
