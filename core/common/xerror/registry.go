package xerror

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
)

// registry contains every code of the process by its number. It is safe for concurrent use.
type registry struct {
	mu      sync.RWMutex
	numbers map[int]*ErrorCode
}

// codes is the registry of the process: codes are package variables, and register as such.
var codes = &registry{numbers: make(map[int]*ErrorCode, 256)}

// define enters a code of Plinth's own table. It runs while this package is initialized, before any
// other use. That the table is sound is proved by a test.
func define(number int, output, en, zh string) *ErrorCode {
	c := &ErrorCode{number: number, output: output, en: en, zh: zh}
	codes.numbers[number] = c
	return c
}

// add registers an application's code, or returns all that is wrong with it.
func (r *registry) add(c *ErrorCode) error {
	faults := check(c)
	r.mu.Lock()
	defer r.mu.Unlock()
	if other := r.numbers[c.number]; other != nil {
		faults = append(faults, fmt.Errorf("the number is taken by %s", other.output))
	}
	for _, other := range r.numbers {
		if other.output == c.output {
			faults = append(faults, fmt.Errorf("the label is taken by %d", other.number))
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	r.numbers[c.number] = c
	return nil
}

// check returns what is wrong with a code by itself.
func check(c *ErrorCode) []error {
	var faults []error
	for _, rule := range []struct {
		broken bool
		fault  string
	}{
		{!validStatus(c.number / detailBase), "the number is not in 40000 to 59999"},
		{!regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`).MatchString(c.output), "the label is not UPPER_SNAKE"},
		{c.en == "", "the English message is empty"},
		{c.zh == "", "the Chinese message is empty"},
	} {
		if rule.broken {
			faults = append(faults, errors.New(rule.fault))
		}
	}
	return faults
}
