package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Variable is a registered variable with the result of its check.
type Variable struct {
	xenv.Var

	// Set reports whether the environment has a value.
	Set bool
	// Problem is the reason for an invalid or missing value.
	Problem string
}

// printer is a file that is added to a main package to print its variables. Go
// initializes the files of a package in the order of their names, after its imports. The
// name of this file is last, so all variables are registered when it runs. Its import
// names must not collide with declarations of the package.
const (
	printerName = "zzz_plinth_variables.go"
	// The output file. Standard output may contain output of the program.
	printerFile = "PLINTH_VARIABLES_FILE"
	printer     = `package main

import (
	plinthJSON "encoding/json"
	plinthOS "os"

	plinthEnv "github.com/plinthgo/plinth/core/defined/xenv"
)

func init() {
	type variable struct {
		plinthEnv.Var
		Set     bool
		Problem string
	}
	var all []variable
	for _, v := range plinthEnv.Table() {
		text, set := plinthEnv.GetEnv(v.Key)
		one := variable{Var: v, Set: set}
		if set {
			if err := v.Check(text); err != nil {
				one.Problem = err.Error()
			}
		} else if v.Required {
			one.Problem = v.Key.String() + " is not set"
		}
		all = append(all, one)
	}
	text, err := plinthJSON.Marshal(all)
	if err == nil {
		err = plinthOS.WriteFile(plinthOS.Getenv("` + printerFile + `"), text, 0o600)
	}
	if err != nil {
		panic(err)
	}
	plinthOS.Exit(0)
}
`
)

// ReadVariables replaces Variables with the variables that the programs register. The go
// command builds each program with an additional file, and runs it until its main package
// is initialized. If that fails, ReadVariables sets VariablesErr and does not change
// Variables.
func (s *Service) ReadVariables(ctx context.Context) {
	if s.VariablesErr = s.CodeErr; s.CodeErr == nil {
		s.VariablesErr = s.readVariables(ctx)
	}
}

func (s *Service) readVariables(ctx context.Context) error {
	var all []Variable
	for _, program := range s.Programs {
		if program.Main == "" || program.Packages[xenvPath] == nil {
			continue
		}
		if !s.IsComplete() {
			return errors.New("imported packages are missing; run go mod download")
		}
		found, err := s.variablesOf(ctx, program)
		if err != nil {
			return fmt.Errorf("%s: %w", program.Folder, err)
		}
		for _, v := range found {
			if !slices.ContainsFunc(all, func(have Variable) bool { return have.Key == v.Key }) {
				all = append(all, v)
			}
		}
	}
	if all != nil {
		slices.SortStableFunc(all, func(a, b Variable) int {
			return strings.Compare(strings.ToLower(a.Group), strings.ToLower(b.Group))
		})
		s.Variables = all
	}
	return nil
}

// Registered returns the variables that this program registers, which are those of all
// packages of Plinth.
func Registered() []Variable {
	table := xenv.Table()
	all := make([]Variable, len(table))
	for i, v := range table {
		text, set := xenv.GetEnv(v.Key)
		all[i] = Variable{Var: v, Set: set}
		if set {
			if err := v.Check(text); err != nil {
				all[i].Problem = err.Error()
			}
		}
	}
	return all
}

// variablesOf runs a program with the printer.
func (s *Service) variablesOf(ctx context.Context, program Program) (all []Variable, err error) {
	dir, err := os.MkdirTemp("", "plinth-variables-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	source, overlay, result := filepath.Join(dir, "printer.go"), filepath.Join(dir, "overlay.json"),
		filepath.Join(dir, "variables.json")
	replace, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(program.Main, printerName): source},
	})
	if err != nil {
		return nil, err
	}
	err = errors.Join(os.WriteFile(source, []byte(printer), 0o600),
		os.WriteFile(overlay, replace, 0o600))
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "run", "-overlay", overlay, program.Main)
	cmd.Dir, cmd.Env = s.Root, append(append(os.Environ(), s.GoEnv()...), printerFile+"="+result)
	if _, err := cmd.Output(); err != nil {
		return nil, withOutput("go run", err)
	}
	text, err := os.ReadFile(result)
	if err != nil {
		return nil, fmt.Errorf("the program exited before its main package was initialized: %w",
			err)
	}
	return all, json.Unmarshal(text, &all)
}

// withOutput adds the standard error of a go command to its error.
func withOutput(command string, err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	return fmt.Errorf("%s: %w", command, err)
}
