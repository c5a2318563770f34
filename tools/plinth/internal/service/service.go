// Package service knows the service in whose folder the program was started: its module,
// its code and its environment.
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

// Service is a folder with a go.mod, or one without where there is none above.
type Service struct {
	// Root is the folder of go.mod, else the one that was asked for.
	Root string
	// Module is what go.mod says, nil where there is none or it does not parse.
	Module *modfile.File
	// ModuleErr is why it does not parse.
	ModuleErr error
	// File is .env in Root, as the start of a service reads it.
	File File
	// FileErr is why it cannot be read.
	FileErr error
	// Programs are what the service's code makes, known after Enter.
	Programs []Program
	// CodeErr is why they are not known.
	CodeErr error
	// Unclear says which defaults in the code could not be read, a line each, known after
	// Enter.
	Unclear []string
	// Variables are those of Plinth after Enter, and those that the programs register
	// after ReadVariables.
	Variables []Variable
	// VariablesErr is why ReadVariables could not read them.
	VariablesErr error

	from    string              // the folder that was asked for
	linked  map[string]*Package // what the programs are made of
	origins map[string]Origin   // of the variables whose values are not the environment's own
}

// File is what a .env file says. One that is not there says nothing.
type File struct {
	Values map[string]string
	// Bad are the numbers of the lines that are not NAME=value; Values is what the others
	// say.
	Bad []int
}

// Find returns the service that the folder belongs to.
func Find(dir string) (*Service, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // as the go command names folders
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

// HasModule reports whether there is a go.mod, be it one that parses or not.
func (s *Service) HasModule() bool { return s.Module != nil || s.ModuleErr != nil }

// Enter makes the program see what the service will: its folder is the working directory,
// .env is in the environment where that does not say otherwise, and the defaults in its
// code where neither does. Code that cannot be read gives none: CodeErr and Unclear say
// so.
func (s *Service) Enter(ctx context.Context) error {
	if err := os.Chdir(s.Root); err != nil {
		return fmt.Errorf("enter the service's folder: %w", err)
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

// Origin says where the value of a variable comes from.
type Origin string

// The origins of values.
const (
	FromEnvironment Origin = "environment"
	FromFile        Origin = ".env"
	FromCode        Origin = "code"
	FromDefault     Origin = "default"
	FromNowhere     Origin = "unset"
)

// Value returns a variable's value after Enter, and its origin.
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
