package xerror

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// The languages in which an error code speaks.
const (
	// English is the language of whoever asks for no other.
	English = "en"
	// Chinese is the other language.
	Chinese = "zh"
)

// detailBase is the factor between an HTTP status and the number of a code.
const detailBase = 100

// ErrorCode is one entry of the catalogue: a number, a label, and a message in each
// language. It cannot be changed, and each is one pointer, so that errors.Is finds it.
//
// Its methods may be called on nil and on the zero value, which speak as
// ServerInternalError.
type ErrorCode struct {
	_      [0]sync.Mutex // go vet reports a copy
	number int
	output string
	en, zh string
}

// NewErrorCode registers an application's own code.
//
// The number is an HTTP status from 400 to 599 times 100, plus a detail; Plinth leaves
// the details 70 to 98 of each status to applications. The label is UPPER_SNAKE. Number
// and label are unique in the process, and neither message is empty. The error names
// every fault at once.
func NewErrorCode(number int, output, en, zh string) (*ErrorCode, error) {
	c := &ErrorCode{
		number: number, output: output, en: strings.TrimSpace(en),
		zh: strings.TrimSpace(zh),
	}
	if err := codes.add(c); err != nil {
		return nil, fmt.Errorf("xerror: code %d %q: %w", number, output, err)
	}
	return c, nil
}

// MustErrorCode is NewErrorCode for package variables: it panics where that returns an
// error.
func MustErrorCode(number int, output, en, zh string) *ErrorCode {
	c, err := NewErrorCode(number, output, en, zh)
	if err != nil {
		panic(err)
	}
	return c
}

// Codes returns all codes, Plinth's and the application's, in the order of their numbers.
func Codes() []*ErrorCode {
	codes.mu.RLock()
	defer codes.mu.RUnlock()
	return slices.SortedFunc(maps.Values(codes.numbers), func(a, b *ErrorCode) int {
		return cmp.Compare(a.number, b.number)
	})
}

// LookupCode returns the code with this number, or nil.
func LookupCode(number int) *ErrorCode {
	codes.mu.RLock()
	defer codes.mu.RUnlock()
	return codes.numbers[number]
}

// RemoteCode returns the code that another service reported: the one that this process
// knows by number and label, else one that stands for it, with the message in any
// language. Such a code is not registered.
func RemoteCode(number int, output, message string) *ErrorCode {
	if c := LookupCode(number); c != nil && c.output == output {
		return c
	}
	return &ErrorCode{number: number, output: output, en: message, zh: message}
}

// GetCode returns the number: the HTTP status times 100, plus a detail.
func (c *ErrorCode) GetCode() int { return c.orInternal().number }

// GetOutput returns the label, such as NOT_EXIST.
func (c *ErrorCode) GetOutput() string { return c.orInternal().output }

// GetMessage returns the message in English.
func (c *ErrorCode) GetMessage() string { return c.orInternal().en }

// Message returns the message in the language: Chinese for "zh" and its variants, else
// English.
func (c *ErrorCode) Message(lang string) string {
	if c = c.orInternal(); languageOf(lang) == Chinese {
		return c.zh
	}
	return c.en
}

// Status returns the HTTP status, from 400 to 599. It is the number divided by 100,
// except that of DeveloperError, which is 500: the number predates the rule that the
// client is not to blame.
func (c *ErrorCode) Status() int {
	c = c.orInternal()
	if status := c.number / detailBase; validStatus(status) && c != DeveloperError {
		return status
	}
	return http.StatusInternalServerError // another service may report any number
}

// Level returns the level that an error of this code has in the log: WARN for the
// client's mistakes, ERROR for the server's.
func (c *ErrorCode) Level() slog.Level {
	if c.Status() >= http.StatusInternalServerError {
		return slog.LevelError
	}
	return slog.LevelWarn
}

// Error returns the label. It makes a code the target of errors.Is, and an error for
// whoever needs no more.
func (c *ErrorCode) Error() string { return c.GetOutput() }

// orInternal replaces no code by that of an unknown error.
func (c *ErrorCode) orInternal() *ErrorCode {
	if c == nil || c.number == 0 {
		return ServerInternalError
	}
	return c
}

// validStatus reports whether an HTTP status may be that of an error.
func validStatus(status int) bool {
	return status >= http.StatusBadRequest && status < 600
}
