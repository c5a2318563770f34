package xerror

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
)

// registry contains all codes of the process by number. It is safe for concurrent use.
type registry struct {
	mu      sync.RWMutex
	numbers map[int]*ErrorCode
}

// codes is global, because codes are package variables.
var codes = &registry{numbers: make(map[int]*ErrorCode, 256)}

// define adds a code of the catalogue while this package is initialized. Tests check the
// catalogue, so define does not.
func define(number int, output, en, zh string) *ErrorCode {
	c := &ErrorCode{number: number, output: output, en: en, zh: zh}
	codes.numbers[number] = c
	return c
}

var upperSnake = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)

// add registers an application's code. The error lists all problems.
func (r *registry) add(c *ErrorCode) error {
	var errs []error
	check := func(invalid bool, format string, args ...any) {
		if invalid {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(!validStatus(c.number/detailBase), "number must be 40000 to 59999")
	check(!upperSnake.MatchString(c.output), "label must be UPPER_SNAKE")
	check(c.en == "", "English message is empty")
	check(c.zh == "", "Chinese message is empty")
	r.mu.Lock()
	defer r.mu.Unlock()
	other := r.numbers[c.number]
	check(other != nil, "number is taken by %s", other.GetOutput())
	for _, other := range r.numbers {
		check(other.output == c.output, "label is taken by %d", other.number)
	}
	if len(errs) == 0 {
		r.numbers[c.number] = c
	}
	return errors.Join(errs...)
}
