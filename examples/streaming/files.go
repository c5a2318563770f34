package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"strconv"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xbind"
)

// files stores files in a directory.
type files struct{ root *os.Root }

// File describes a stored file.
type File struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// UploadFiles is a form with files.
type UploadFiles struct {
	Upload *xapi.Upload
}

// upload stores the files of a form while the client sends them.
func (f *files) upload(_ context.Context, in *UploadFiles) ([]File, error) {
	var list []File
	for part, err := range in.Upload.Parts() {
		if err != nil {
			return nil, err
		}
		if part.FileName == "" {
			continue // a text field: see part.Text
		}
		size, err := f.save(part.FileName, part)
		if err != nil {
			return nil, err
		}
		list = append(list, File{Name: part.FileName, Size: size})
	}
	return list, nil
}

// save writes a file atomically: a reader sees the old file or the complete new one. An
// existing file with the same name is replaced.
func (f *files) save(name string, content io.Reader) (size int64, err error) {
	temporary := ".upload-" + rand.Text()
	file, err := f.root.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o640)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = f.root.Remove(temporary)
		}
	}()
	size, err = io.Copy(file, content)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return size, err
	}
	return size, f.root.Rename(temporary, name)
}

// FileName is the name of a file in the path.
type FileName struct {
	Name string `uri:"name"`
}

// download returns a file. Clients can request ranges of it.
func (f *files) download(_ context.Context, in *FileName) (*xapi.Download, error) {
	if in.Name != xbind.FileName(in.Name) {
		return nil, xerror.New(xerror.NotFound, "") // for example a temporary file
	}
	file, err := f.root.Open(in.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, xerror.New(xerror.NotFound, "")
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(xerror.New(xerror.NotFound, ""), err, file.Close())
	}
	return &xapi.Download{
		Content: file, Name: in.Name, ModTime: info.ModTime(),
		ETag: `"` + strconv.FormatInt(info.ModTime().UnixNano(), 36) + `"`,
	}, nil
}

// list returns all files as JSON lines.
func (f *files) list(context.Context, *struct{}) (iter.Seq2[File, error], error) {
	dir, err := f.root.Open(".")
	if err != nil {
		return nil, err
	}
	return func(yield func(File, error) bool) {
		defer func() { _ = dir.Close() }()
		for {
			entries, err := dir.ReadDir(100)
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(File{}, err)
				return
			}
			for _, entry := range entries {
				info, err := entry.Info()
				if err != nil || entry.Name() != xbind.FileName(entry.Name()) {
					continue // removed, or a temporary file
				}
				if !yield(File{Name: entry.Name(), Size: info.Size()}, nil) {
					return
				}
			}
		}
	}, nil
}
