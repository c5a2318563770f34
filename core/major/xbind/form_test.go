package xbind_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xbind"
)

const (
	urlencoded    = "application/x-www-form-urlencoded"
	multipartForm = "multipart/form-data; boundary=frontier"
)

type upload struct {
	Title  string                  `form:"title" binding:"required,max=10"`
	Count  int                     `form:"count"`
	Tags   []string                `form:"tags"`
	Cover  *multipart.FileHeader   `form:"cover"`
	Photos []*multipart.FileHeader `form:"photos" binding:"max=2"`
}

// part is one part of a multipart form. It is a file if file is not empty.
type part struct{ field, file, content string }

func formOf(parts ...part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("--frontier\r\nContent-Disposition: form-data; name=\"" + p.field + `"`)
		if p.file != "" {
			b.WriteString(`; filename="` + p.file + `"`)
		}
		b.WriteString("\r\n\r\n" + p.content + "\r\n")
	}
	return b.String() + "--frontier--\r\n"
}

func TestBinder_Form(t *testing.T) {
	for _, tt := range []struct {
		name        string
		contentType string
		body        string
		want        string
	}{
		{
			"urlencoded", urlencoded + "; charset=UTF-8", "title=a+b&count=3&tags=x&tags=y",
			"a b 3 [x y]",
		},
		{
			"multipart", multipartForm,
			formOf(part{"title", "", "a b"}, part{"count", "", "3"}, part{"tags", "", "x"}),
			"a b 3 [x]",
		},
		{
			"a file", multipartForm,
			formOf(part{"title", "", "t"}, part{"cover", "a.png", "image"}),
			"t 0 [] cover a.png 5 image",
		},
		{
			"files", multipartForm,
			formOf(part{"title", "", "t"},
				part{"photos", "a.png", "1"}, part{"photos", "b.png", "22"}),
			"t 0 [] photo a.png 1 1 photo b.png 2 22",
		},
		{
			"a file with a path", multipartForm,
			formOf(part{"title", "", "t"}, part{"cover", `..\\..\\etc\\passwd`, "x"}),
			"t 0 [] cover passwd 1 x",
		},
		{
			"fields do not forge a file", multipartForm,
			formOf(part{"title", "", "t"},
				part{"Filename", "", "/etc/passwd"}, part{"Size", "", "7"}),
			"t 0 []",
		},
		{"a field is not a file", urlencoded, "title=t&cover=x&photos=y", "t 0 []"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := request(tt.body, "Content-Type", tt.contentType)
			u := xbind.Bind(c, &upload{}).Form()
			if u == nil {
				t.Fatal(c.Errors)
			}
			got := fmt.Sprint(u.Title, " ", u.Count, " ", u.Tags)
			if u.Cover != nil {
				got += describe(t, " cover ", u.Cover)
			}
			for _, f := range u.Photos {
				got += describe(t, " photo ", f)
			}
			if got != tt.want {
				t.Errorf("form = %q, want %q", got, tt.want)
			}
		})
	}
}

func describe(t *testing.T, what string, f *multipart.FileHeader) string {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(what, f.Filename, " ", f.Size, " ", string(content))
}

func TestBinder_Form_Errors(t *testing.T) {
	title := part{"title", "", "t"}
	for _, tt := range []struct {
		name        string
		contentType string
		body        string
		opts        []xbind.Option
		want        *xerror.ErrorCode
		fields      string
	}{
		{name: "JSON", contentType: "application/json", body: "{}", want: xerror.UnsupportedMedia},
		{
			name: "another charset", contentType: urlencoded + "; charset=gbk", body: "title=t",
			want: xerror.UnsupportedMedia,
		},
		{
			name: "no boundary", contentType: "multipart/form-data",
			body: formOf(title), want: xerror.UnsupportedMedia,
		},
		{name: "no body", contentType: urlencoded, want: xerror.BodyEmpty},
		{
			name: "an invalid escape", contentType: urlencoded, body: "title=%zz",
			want: xerror.BodyError,
		},
		{name: "a semicolon", contentType: urlencoded, body: "title=a;b=c", want: xerror.BodyError},
		{
			name: "too many fields", contentType: urlencoded,
			body: strings.Repeat("tags=x&", 10_001) + "title=t", want: xerror.BodyError,
		},
		{
			name: "too many parts", contentType: multipartForm, want: xerror.UploadTooLarge,
			body: formOf(append(make([]part, 10_001), title)...),
		},
		{
			name: "NUL in the header of a part", contentType: multipartForm, want: xerror.BodyError,
			body: "--frontier\r\nContent-Disposition: form-data; name=\"title\"\r\nX: a\x00b\r\n\r\nt\r\n--frontier--\r\n",
		},
		{
			name: "a truncated form", contentType: multipartForm,
			body: strings.TrimSuffix(formOf(title), "--frontier--\r\n"), want: xerror.BodyError,
		},
		{name: "not a form", contentType: multipartForm, body: "hello", want: xerror.BodyError},
		{
			name: "a missing field", contentType: urlencoded, body: "count=1",
			want: xerror.BodyError, fields: "title:required",
		},
		{
			name: "a wrong type", contentType: urlencoded, body: "title=t&count=x",
			want: xerror.BodyType, fields: "count:type",
		},
		{
			name: "not UTF-8", contentType: urlencoded, body: "title=%ff",
			want: xerror.BodyError, fields: "title:utf8",
		},
		{
			name: "an unknown field", contentType: urlencoded, body: "title=t&more=x",
			want: xerror.BodyError, fields: "more:unknown",
			opts: []xbind.Option{xbind.DisallowUnknownFields()},
		},
		{
			name: "an unknown file", contentType: multipartForm,
			body: formOf(title, part{"more", "a", "x"}), want: xerror.BodyError,
			fields: "more:unknown", opts: []xbind.Option{xbind.DisallowUnknownFields()},
		},
		{name: "an unknown field, allowed", contentType: urlencoded, body: "title=t&more=x"},
		{
			name:        "two files for a single field",
			contentType: multipartForm, want: xerror.BodyError, fields: "cover:duplicate",
			body: formOf(title, part{"cover", "a", "x"}, part{"cover", "b", "y"}),
		},
		{
			name:        "too many files",
			contentType: multipartForm, want: xerror.BodyError, fields: "photos:max",
			body: formOf(title, part{"photos", "a", "x"}, part{"photos", "b", "y"},
				part{"photos", "c", "z"}),
		},
		{
			name:        "a large file",
			contentType: multipartForm, want: xerror.FileSizeExceeded, fields: "cover:max_bytes",
			body: formOf(title, part{"cover", "a", "12345"}),
			opts: []xbind.Option{xbind.WithMaxFileBytes(4)},
		},
		{
			name:        "a file at the limit",
			contentType: multipartForm, body: formOf(title, part{"cover", "a", "1234"}),
			opts: []xbind.Option{xbind.WithMaxFileBytes(4)},
		},
		{
			name: "a large form", contentType: multipartForm,
			body: formOf(title, part{"cover", "a", "12345"}), want: xerror.PayloadTooLarge,
			opts: []xbind.Option{xbind.WithMaxBytes(100)},
		},
		{
			name: "a large urlencoded form", contentType: urlencoded, body: "title=ttttttt",
			want: xerror.PayloadTooLarge,
			opts: []xbind.Option{xbind.WithMaxBytes(10)},
		},
	} {
		for _, declared := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, declared %t", tt.name, declared), func(t *testing.T) {
				c := request(tt.body, "Content-Type", tt.contentType)
				if !declared && tt.body != "" {
					c.Request.ContentLength = -1
				}
				if got := xbind.Bind(c, &upload{}, tt.opts...).Form(); got != nil {
					if tt.want != nil {
						t.Errorf("form = %+v, want %v", got, tt.want)
					}
					return
				}
				e := reported(t, c)
				if e.GetErrorCode() != tt.want || failedFields(e) != tt.fields {
					t.Errorf("error %v %q (%v), want %v %q",
						e.GetErrorCode(), failedFields(e), e, tt.want, tt.fields)
				}
			})
		}
	}
}

func TestBinder_Form_PostForm(t *testing.T) {
	for contentType, body := range map[string]string{
		urlencoded:    "title=t",
		multipartForm: formOf(part{"title", "", "t"}),
	} {
		c := request(body, "Content-Type", contentType)
		if xbind.Bind(c, &upload{}).Form() == nil || c.PostForm("title") != "t" {
			t.Errorf("%s: PostForm after Form = %q, %v", contentType, c.PostForm("title"), c.Errors)
		}
		c = request(body, "Content-Type", contentType)
		if c.PostForm("title") != "t" || xbind.Bind(c, &upload{}).Form() == nil {
			t.Errorf("%s: Form after PostForm: %v", contentType, c.Errors)
		}
	}
}

func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"a.png": "a.png", "报告 1.pdf": "报告 1.pdf",
		"": "file", ".": "file", "..": "file", "...": "file", "/": "file", "/a/b/": "file",
		"../../etc/passwd": "passwd", `C:\temp\a.txt`: "a.txt", ".bashrc": "bashrc",
		"a\x00b\n.txt": "ab.txt", "a. ": "a", "\xff\xfe.png": "png",
		`a"b<c>.txt`: "abc.txt", "\u202egnp.exe": "gnp.exe",
		strings.Repeat("a", 300) + ".jpeg":    strings.Repeat("a", 250) + ".jpeg",
		strings.Repeat("图", 100):              strings.Repeat("图", 85),
		"a." + strings.Repeat("b", 300):       "a." + strings.Repeat("b", 253),
		strings.Repeat("a", 249) + " b.jpeg.": strings.Repeat("a", 249) + ".jpeg",
	} {
		if got := xbind.FileName(name); got != want {
			t.Errorf("FileName(%q) = %q, want %q", name, got, want)
		}
	}
}

func FuzzFileName(f *testing.F) {
	for _, s := range []string{
		"a.png", "../x", `..\x`, "\x00", "..a..", " . ",
		strings.Repeat("é", 200), "a." + strings.Repeat("b", 300),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := xbind.FileName(name)
		if got == "" || len(got) > 255 || !utf8.ValidString(got) ||
			strings.ContainsAny(got, "/\\\x00\r\n") || strings.Trim(got, ". ") != got {
			t.Errorf("FileName(%q) = %q", name, got)
		}
		if again := xbind.FileName(got); again != got {
			t.Errorf("FileName(%q) = %q, but FileName of the result = %q", name, got, again)
		}
	})
}

func FuzzForm(f *testing.F) {
	f.Add(true, []byte("title=a&count=1&tags=%20"))
	f.Add(true, []byte("title=%zz;"))
	f.Add(false, []byte(formOf(part{"title", "", "t"}, part{"cover", "../a", "x"})))
	f.Add(false, []byte("--frontier\r\nContent-Disposition: form-data; name=\"\x00\"\r\n\r\n--frontier--"))
	f.Add(true, []byte(forged+"&title=t"))
	f.Add(true, []byte("Nested="+forgedJSON))
	f.Add(true, []byte("values=x&Pages=y&value=z&pointed=p&File=f"))
	f.Add(false, []byte(formOf(append(forgedParts(), part{"pointed", "../a", "x"},
		part{"file", "b", "y"})...)))
	f.Add(false, []byte(formOf(part{"values", "a", "x"}, part{"values", "b", ""},
		part{"value", "c", "y"}, part{"pages", "d", "z"})))
	f.Fuzz(func(t *testing.T, plain bool, body []byte) {
		contentType := multipartForm
		if plain {
			contentType = urlencoded
		}
		c := request(string(body), "Content-Type", contentType)
		if a := xbind.Bind(c, &album{}).Form(); a != nil {
			wantUploads(t, a.files(), c.Request.MultipartForm)
		}
		c = request(string(body), "Content-Type", contentType)
		u := xbind.Bind(c, &upload{}).Form()
		if u == nil {
			if e := reported(t, c); e.GetErrorCode().Status() >= http.StatusInternalServerError {
				t.Errorf("%q: %v", body, e)
			}
			return
		}
		if u.Cover != nil && xbind.FileName(u.Cover.Filename) != u.Cover.Filename {
			t.Errorf("unsafe file name %q", u.Cover.Filename)
		}
		if plain { // compare with net/url
			values, err := url.ParseQuery(string(body))
			if err != nil || !cmp.Equal(values["tags"], u.Tags) &&
				!bytes.Contains(body, []byte("tags[")) {
				t.Errorf("%q: tags = %q, want %q (%v)", body, u.Tags, values["tags"], err)
			}
		}
	})
}

// wantUploads fails the test if a file is not an upload of the form or has an unsafe
// name.
func wantUploads(t *testing.T, files map[string]*multipart.FileHeader, form *multipart.Form) {
	t.Helper()
	for name, file := range files {
		if xbind.FileName(file.Filename) != file.Filename {
			t.Errorf("%s: unsafe file name %q", name, file.Filename)
		}
		uploaded := false
		if form != nil {
			for _, list := range form.File {
				uploaded = uploaded || slices.ContainsFunc(list,
					func(f *multipart.FileHeader) bool { return reflect.DeepEqual(f, file) })
			}
		}
		if !uploaded {
			t.Errorf("%s = %+v, want an upload", name, file)
		}
	}
}
