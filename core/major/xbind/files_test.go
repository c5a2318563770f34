package xbind_test

import (
	"fmt"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xbind"
)

type Document struct {
	Title string                `form:"title"`
	File  *multipart.FileHeader `form:"file"`
}

type pages []*multipart.FileHeader

type scan struct {
	Scan *multipart.FileHeader `form:"scan"`
}

// album has all kinds of file fields that a form can fill.
type album struct {
	*Document
	scan
	Nested  struct{ File *multipart.FileHeader }
	Pointer *struct {
		File   *multipart.FileHeader `form:"pointed"`
		Hidden *multipart.FileHeader `form:"-"`
	}
	Value  multipart.FileHeader   `form:"value"`
	Values []multipart.FileHeader `form:"values"`
	Pages  pages                  `form:"pages"`
	Kept   *multipart.FileHeader  `form:"-"`
}

// files returns the file headers of the album by the names of their fields.
func (a *album) files() map[string]*multipart.FileHeader {
	all := map[string]*multipart.FileHeader{
		"Scan": a.Scan, "Nested.File": a.Nested.File, "Kept": a.Kept,
	}
	if a.Document != nil {
		all["File"] = a.File
	}
	if a.Pointer != nil {
		all["Pointer.File"], all["Pointer.Hidden"] = a.Pointer.File, a.Pointer.Hidden
	}
	if a.Value.Filename != "" || a.Value.Size != 0 || a.Value.Header != nil {
		all["Value"] = &a.Value
	}
	for i := range a.Values {
		all[fmt.Sprintf("Values[%d]", i)] = &a.Values[i]
	}
	for i, file := range a.Pages {
		all[fmt.Sprintf("Pages[%d]", i)] = file
	}
	for name, file := range all {
		if file == nil {
			delete(all, name)
		}
	}
	return all
}

const (
	forged     = `Filename=../../etc/cron.d/x&Size=7&Header={"A":["b"]}`
	forgedJSON = `{"File":{"Filename":"../x","Size":7},"Hidden":{"Filename":"../x"}}`
)

func forgedParts() []part {
	return []part{
		{"Filename", "", "../../forged"},
		{"Size", "", "7"},
		{"Header", "", `{"A":["b"]}`},
	}
}

func TestBinder_Form_Files(t *testing.T) {
	for name, want := range map[string]string{
		"file": "File", "scan": "Scan", "File": "Nested.File", "pointed": "Pointer.File",
		"value": "Value", "values": "Values[0]", "pages": "Pages[0]",
	} {
		t.Run(name+" upload fills its field", func(t *testing.T) {
			c := request(formOf(append(forgedParts(), part{name, "../a.txt", "hello"})...),
				"Content-Type", multipartForm)
			a := xbind.Bind(c, &album{}).Form()
			if a == nil {
				t.Fatal(c.Errors)
			}
			files := a.files()
			if len(files) != 1 || files[want] == nil {
				t.Fatalf("files = %v, want only %s", files, want)
			}
			if got := describe(t, "", files[want]); got != "a.txt 5 hello" {
				t.Errorf("file = %q, want the upload", got)
			}
		})
	}
	t.Run("several uploads fill a list of values", func(t *testing.T) {
		c := request(formOf(part{"values", "a", "1"}, part{"values", "b", "22"}),
			"Content-Type", multipartForm)
		a := xbind.Bind(c, &album{}).Form()
		if a == nil || len(a.Values) != 2 || describe(t, "", &a.Values[1]) != "b 2 22" {
			t.Errorf("form = %+v, %v; want two files", a, c.Errors)
		}
	})
	t.Run("files of nested structs have limits", func(t *testing.T) {
		c := request(formOf(part{"pointed", "a", "12345"}), "Content-Type", multipartForm)
		if xbind.Bind(c, &album{}, xbind.WithMaxFileBytes(4)).Form() != nil ||
			reported(t, c).GetErrorCode() != xerror.FileSizeExceeded {
			t.Errorf("errors = %v, want FILE_SIZE_EXCEEDED", c.Errors)
		}
	})
	t.Run("text does not allocate a file", func(t *testing.T) {
		for _, dst := range []*album{{}, newAlbum()} {
			c := request(forged+"&title=t&file=x&values=x&values=y&value=x",
				"Content-Type", urlencoded)
			a := xbind.Bind(c, dst).Form()
			if a == nil {
				t.Fatal(c.Errors)
			}
			a.Kept, dst.Pages = nil, nil
			if files := a.files(); len(files) != 0 {
				t.Errorf("files = %v, want none", files)
			}
		}
	})
	t.Run("text does not set files through a pointer to a struct", func(t *testing.T) {
		c := request(forged, "Content-Type", urlencoded)
		a := xbind.Bind(c, new(*album)).Form()
		if a == nil || *a != nil && len((*a).files()) != 0 {
			t.Errorf("form = %v, %v; want no file", a, c.Errors)
		}
	})
}

func newAlbum() *album {
	a := &album{
		Document: &Document{File: placeholder()}, Kept: placeholder(),
		Pages: pages{placeholder()},
	}
	a.Scan, a.Nested.File, a.Value = placeholder(), placeholder(), *placeholder()
	return a
}

func placeholder() *multipart.FileHeader { return &multipart.FileHeader{Filename: "placeholder"} }

func TestBind_FilesFromText(t *testing.T) {
	t.Run("JSON text for a struct with files is rejected", func(t *testing.T) {
		for _, name := range []string{"Nested", "Pointer"} {
			c := request(name+"="+forgedJSON, "Content-Type", urlencoded)
			if a := xbind.Bind(c, &album{}).Form(); a != nil {
				t.Errorf("%s: files = %v, want an error", name, a.files())
			} else if e := reported(t, c); e.GetErrorCode() != xerror.BodyError ||
				failedFields(e) != name+":unknown" {
				t.Errorf("%s: error = %v", name, e)
			}
		}
	})
	t.Run("text does not change defaults", func(t *testing.T) {
		kept := placeholder()
		for _, a := range []*album{
			xbind.Bind(request(forged, "Content-Type", urlencoded), &album{Kept: kept}).Form(),
			xbind.Bind(withQuery(forged),
				&album{Kept: kept, Document: &Document{File: placeholder()}}).Query(),
		} {
			files := a.files()
			if len(files) != 1 || files["Kept"] != kept || kept.Filename != "placeholder" ||
				kept.Size != 0 {
				t.Errorf("files = %v, want only the excluded field", files)
			}
		}
		shared := placeholder()
		c := request(forged, "Content-Type", urlencoded)
		a := xbind.Bind(c, &album{scan: scan{shared}}).Form()
		if a.Scan != nil || shared.Filename != "placeholder" {
			t.Errorf("scan = %v and default %v, want nil and an unchanged default", a.Scan, shared)
		}
	})
	t.Run("query, path and headers do not set files", func(t *testing.T) {
		a := xbind.Bind(withQuery(forged), &album{}).Query()
		b := xbind.Bind(request("", "Filename", "../x", "Size", "7"), &album{}).Header()
		c := xbind.Bind(withPath("Filename", "../x"), &album{}).URI()
		if len(a.files())+len(b.files())+len(c.files()) != 0 {
			t.Errorf("files = %v, %v, %v; want none", a.files(), b.files(), c.files())
		}
	})
	t.Run("a failed bind does not set files", func(t *testing.T) {
		type counted struct {
			album
			Count int `form:"count"`
		}
		var dst counted
		if xbind.Bind(request(forged+"&count=x", "Content-Type", urlencoded), &dst).Form() != nil ||
			len(dst.files()) != 0 {
			t.Errorf("files = %v, want none", dst.files())
		}
	})
}

// file has the fields of a file header.
type file multipart.FileHeader

type tree struct {
	Next *tree
	File *multipart.FileHeader
}

type hidden struct{ File *multipart.FileHeader }

type renamed = multipart.FileHeader

// wantDeveloperError binds a form to a T and fails the test unless the error is a
// DeveloperError that contains want.
func wantDeveloperError[T any](t *testing.T, want string) {
	t.Helper()
	c := request(forged, "Content-Type", urlencoded)
	if got := xbind.Bind(c, new(T)).Form(); got != nil {
		t.Errorf("%T = %+v, want an error", got, got)
		return
	}
	if e := reported(t, c); e.GetErrorCode() != xerror.DeveloperError ||
		!strings.Contains(e.Error(), want) {
		t.Errorf("%T: error = %v, want DEVELOPER_ERROR with %q", new(T), e, want)
	}
}

func TestBinder_Form_UnsupportedFileTypes(t *testing.T) {
	wantDeveloperError[multipart.FileHeader](t, "multipart.FileHeader")
	wantDeveloperError[struct{ Docs []Document }](t, "Docs")
	wantDeveloperError[struct {
		In struct{ Docs map[string]Document }
	}](t, "Docs")
	wantDeveloperError[struct{ Pair [2]*multipart.FileHeader }](t, "Pair")
	wantDeveloperError[struct{ Lists [][]*multipart.FileHeader }](t, "Lists")
	wantDeveloperError[struct{ Far **multipart.FileHeader }](t, "Far")
	wantDeveloperError[struct{ List *pages }](t, "List")
	wantDeveloperError[struct{ Other file }](t, "Other")
	wantDeveloperError[struct{ *hidden }](t, "hidden")
	wantDeveloperError[struct{ pages }](t, "pages")
	wantDeveloperError[struct{ renamed }](t, "renamed")
	wantDeveloperError[tree](t, "Next")

	c := request(forged, "Content-Type", urlencoded)
	if xbind.Bind(c, &struct {
		Docs []Document `form:"-"`
	}{}).Form() == nil {
		t.Errorf("errors = %v, want none because the tag excludes the field", c.Errors)
	}
}
