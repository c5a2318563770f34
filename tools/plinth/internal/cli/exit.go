package cli

import (
	"errors"
	"fmt"
)

// Exit codes of the program.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	exitFound  = 3
)

// exitHelp is what the help says of them.
const exitHelp = `Exit codes:
  0  done
  1  it failed
  2  the command line makes no sense
  3  it has checked, and found something wrong (doctor, env --check, migrate status --check)
`

// usageError is a command line that makes no sense.
type usageError struct{ error }

// Unwrap returns what is wrong with it.
func (e usageError) Unwrap() error { return e.error }

// usagef returns the error of a command line that makes no sense, which ends the program
// with 2.
func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// errFound ends the program with 3 and without a line: what was found has been printed.
var errFound = errors.New("something is wrong")

// errInterrupted is the end of a command that a signal has cut off.
var errInterrupted = errors.New("interrupted")

// codeOf returns the exit code of an error.
func codeOf(err error) int {
	_, isUsage := errors.AsType[usageError](err)
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errFound):
		return exitFound
	case isUsage:
		return exitUsage
	default:
		return exitFailed
	}
}
