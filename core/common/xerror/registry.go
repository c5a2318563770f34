package xerror

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
)

// registry contains every code of the process by its number. It is safe for concurrent
// use.
type registry struct {
	mu      sync.RWMutex
	numbers map[int]*ErrorCode
}

// codes is the registry of the process: codes are package variables, and register as
// such.
var codes = &registry{numbers: make(map[int]*ErrorCode, 256)}

// define enters a code of Plinth's own table. It runs while this package is initialized,
// before any other use. That the table is sound is proved by a test.
func define(number int, output, en, zh string) *ErrorCode {
	c := &ErrorCode{number: number, output: output, en: en, zh: zh}
	codes.numbers[number] = c
	return c
}

// upperSnake is the form of a label.
var upperSnake = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)

// add registers an application's code, or returns all that is wrong with it.
func (r *registry) add(c *ErrorCode) error {
	var faults []error
	reject := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	reject(!validStatus(c.number/detailBase), "the number is not in 40000 to 59999")
	reject(!upperSnake.MatchString(c.output), "the label is not UPPER_SNAKE")
	reject(c.en == "", "the English message is empty")
	reject(c.zh == "", "the Chinese message is empty")
	r.mu.Lock()
	defer r.mu.Unlock()
	other := r.numbers[c.number]
	reject(other != nil, "the number is taken by %s", other.GetOutput())
	for _, other := range r.numbers {
		reject(other.output == c.output, "the label is taken by %d", other.number)
	}
	if len(faults) == 0 {
		r.numbers[c.number] = c
	}
	return errors.Join(faults...)
}
