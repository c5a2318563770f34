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

const exitHelp = `Exit codes:
  0  success
  1  failure
  2  invalid command line
  3  the check found a problem (doctor, env --check, migrate status --check, openapi --check)
`

// usageError is an invalid command line.
type usageError struct{ error }

// Unwrap returns the cause.
func (e usageError) Unwrap() error { return e.error }

// usagef returns an error for an invalid command line. The program exits with 2.
func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// errFound makes the program exit with 3 without another message, because the findings
// were already printed.
var errFound = errors.New("problems found")

// errInterrupted is returned if a signal canceled the command.
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
