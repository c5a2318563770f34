// Package service reads the module, the code and the environment of the service in the
// working directory.
package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/plinthgo/plinth/core/common/xdotenv"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Service is a directory with a go.mod, or the start directory if no parent has one.
type Service struct {
	// Root is the directory of go.mod, or else the directory passed to Find.
	Root string
	// Module is the parsed go.mod. It is nil if the file is missing or invalid.
	Module *modfile.File
	// ModuleErr is the parse error of go.mod.
	ModuleErr error
	// File is the .env file in Root.
	File File
	// FileErr is the read error of .env.
	FileErr error
	// Programs are the programs of the service. Enter sets it.
	Programs []Program
	// CodeErr is the error of reading Programs.
	CodeErr error
	// Unclear lists the defaults in the code that could not be read. Enter sets it.
	Unclear []string
	// Variables are the variables of Plinth after Enter, and those of the programs after
	// ReadVariables.
	Variables []Variable
	// VariablesErr is the error of ReadVariables.
	VariablesErr error

	from    string              // the directory passed to Find
	linked  map[string]*Package // the packages of all programs
	origins map[string]Origin   // of variables that Enter set
}

// File is the content of a .env file. A missing file is empty.
type File struct {
	Values map[string]string
	// Bad contains the numbers of invalid lines.
	Bad []int
}

// Find returns the service that contains dir.
func Find(dir string) (*Service, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// the go command resolves symbolic links, too
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	s := &Service{Root: dir, from: dir}
	for at := dir; ; at = filepath.Dir(at) {
		text, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil {
			s.Root = at
			s.Module, s.ModuleErr = modfile.Parse("go.mod", text, nil)
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	text, err := os.ReadFile(filepath.Join(s.Root, ".env"))
	if err == nil {
		s.File.Values, s.File.Bad = xdotenv.Parse(string(text))
	} else if !errors.Is(err, fs.ErrNotExist) {
		s.FileErr = err
	}
	return s, nil
}

// HasModule reports whether a go.mod exists, valid or not.
func (s *Service) HasModule() bool { return s.Module != nil || s.ModuleErr != nil }

// Enter applies the environment of the service to this program. It changes the working
// directory to Root, and sets variables from .env and from the defaults of the code
// unless they are set. CodeErr and Unclear report code that could not be read.
func (s *Service) Enter(ctx context.Context) error {
	if err := os.Chdir(s.Root); err != nil {
		return fmt.Errorf("enter the directory of the service: %w", err)
	}
	if s.Module != nil {
		s.Programs, s.CodeErr = s.readPrograms(ctx)
	}
	s.origins = map[string]Origin{}
	if err := s.apply(s.File.Values, FromFile); err != nil {
		return err
	}
	if err := s.apply(s.readDefaults(), FromCode); err != nil {
		return err
	}
	s.Variables = Registered()
	return nil
}

// apply sets the variables that have no value yet.
func (s *Service) apply(values map[string]string, origin Origin) error {
	for name, value := range values {
		if value != "" && os.Getenv(name) == "" {
			s.origins[name] = origin
		}
	}
	return xenv.Apply(values)
}

// Origin is the source of a value.
type Origin string

// Values of Origin.
const (
	FromEnvironment Origin = "environment"
	FromFile        Origin = ".env"
	FromCode        Origin = "code"
	FromDefault     Origin = "default"
	FromNowhere     Origin = "unset"
)

// Value returns the value of a variable after Enter, and its origin.
func (s *Service) Value(v Variable) (string, Origin) {
	text := os.Getenv(v.Key.String())
	switch {
	case v.Set:
		return text, cmp.Or(s.origins[v.Key.String()], FromEnvironment)
	case v.Default != "":
		return v.Default, FromDefault
	default:
		return "", FromNowhere
	}
}
