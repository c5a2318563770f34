// Package dotenv reads a .env file as the start of a service does, and says where it is wrong.
package dotenv

import (
	"errors"
	"io/fs"
	"os"

	"github.com/plinthgo/plinth/core/common/xdotenv"
)

// File is what a file says. One that is not there says nothing.
type File struct {
	Path   string
	Exists bool
	Values map[string]string
	// Bad are the numbers of the lines that are not NAME=value; Values is what the others say.
	Bad []int
}

// Read reads the file at path. That it is not there is no error.
func Read(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{Path: path}, nil
	}
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, Exists: true}
	f.Values, f.Bad = xdotenv.Parse(string(text))
	return f, nil
}
