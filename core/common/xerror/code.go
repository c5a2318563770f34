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

// The languages of error messages.
const (
	// English is the default language.
	English = "en"
	// Chinese is used if the client prefers it.
	Chinese = "zh"
)

// detailBase is the factor between an HTTP status and the number of a code.
const detailBase = 100

// ErrorCode is an error code: a number, a label, and a message in each language. An
// ErrorCode is immutable and compared by its address, for example by errors.Is.
//
// All methods accept nil and the zero value and treat them as ServerInternalError.
type ErrorCode struct {
	_      [0]sync.Mutex // makes go vet report copies
	number int
	output string
	en, zh string
}

// NewErrorCode registers an error code of the application.
//
// The number is an HTTP status from 400 to 599 times 100, plus a detail. Details 70 to 98
// of each status are reserved for applications. The label is UPPER_SNAKE. Number and
// label must be unique in the process, and both messages are required. The error lists
// all problems.
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

// MustErrorCode is like NewErrorCode but panics on an error. It is for package variables.
func MustErrorCode(number int, output, en, zh string) *ErrorCode {
	c, err := NewErrorCode(number, output, en, zh)
	if err != nil {
		panic(err)
	}
	return c
}

// Codes returns all codes of Plinth and the application, sorted by number.
func Codes() []*ErrorCode {
	codes.mu.RLock()
	defer codes.mu.RUnlock()
	return slices.SortedFunc(maps.Values(codes.numbers), func(a, b *ErrorCode) int {
		return cmp.Compare(a.number, b.number)
	})
}

// LookupCode returns the code with the given number, or nil.
func LookupCode(number int) *ErrorCode {
	codes.mu.RLock()
	defer codes.mu.RUnlock()
	return codes.numbers[number]
}

// RemoteCode returns the code that another service reported. If no registered code has
// this number and label, RemoteCode returns a new, unregistered code with message in all
// languages.
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

// GetMessage returns the English message.
func (c *ErrorCode) GetMessage() string { return c.orInternal().en }

// Message returns the Chinese message if lang is a form of Chinese, such as "zh" or
// "zh-CN", and the English message otherwise.
func (c *ErrorCode) Message(lang string) string {
	if c = c.orInternal(); languageOf(lang) == Chinese {
		return c.zh
	}
	return c.en
}

// Status returns the HTTP status, from 400 to 599: the number divided by 100.
// DeveloperError (40024) is an exception: its status is 500, because the client is not at
// fault.
func (c *ErrorCode) Status() int {
	c = c.orInternal()
	if status := c.number / detailBase; validStatus(status) && c != DeveloperError {
		return status
	}
	return http.StatusInternalServerError // another service may report any number
}

// Level returns the log level of errors with this code: WARN for client errors and ERROR
// for server errors.
func (c *ErrorCode) Level() slog.Level {
	if c.Status() >= http.StatusInternalServerError {
		return slog.LevelError
	}
	return slog.LevelWarn
}

// Error returns the label. It implements error, so that errors.Is can find a code.
func (c *ErrorCode) Error() string { return c.GetOutput() }

// orInternal replaces nil and the zero value by ServerInternalError.
func (c *ErrorCode) orInternal() *ErrorCode {
	if c == nil || c.number == 0 {
		return ServerInternalError
	}
	return c
}

func validStatus(status int) bool {
	return status >= http.StatusBadRequest && status < 600
}
