package xerror

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
)

// registry knows every code of the process. It is safe for concurrent use.
type registry struct {
	mu      sync.RWMutex
	list    []*ErrorCode // in the order of registration
	numbers map[int]*ErrorCode
	outputs map[string]*ErrorCode
}

// codes is the registry of the process: codes are package variables, and register as such.
var codes = &registry{list: make([]*ErrorCode, 0, 256)}

// define enters a code of Plinth's own table. It runs while this package is initialized, when nobody
// else can look. That the table is sound is proved by a test.
func define(number int, output, en, zh string) *ErrorCode {
	c := &ErrorCode{number: number, output: output, en: en, zh: zh}
	codes.list = append(codes.list, c)
	return c
}

// defineStatus is define for a code whose HTTP status is not part of its number.
func defineStatus(status, number int, output, en, zh string) *ErrorCode {
	c := define(number, output, en, zh)
	c.status = status
	return c
}

// index builds the maps, which nobody needs before the first lookup. The caller holds the lock.
func (r *registry) index() {
	if r.numbers != nil {
		return
	}
	r.numbers = make(map[int]*ErrorCode, len(r.list))
	r.outputs = make(map[string]*ErrorCode, len(r.list))
	for _, c := range r.list {
		r.numbers[c.number] = c
		r.outputs[c.output] = c
	}
}

// add registers an application's code, or returns all that is wrong with it.
func (r *registry) add(c *ErrorCode) error {
	faults := check(c)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.index()
	if other := r.numbers[c.number]; other != nil {
		faults = append(faults, fmt.Errorf("the number is taken by %s", other.output))
	}
	if other := r.outputs[c.output]; other != nil {
		faults = append(faults, fmt.Errorf("the label is taken by %d", other.number))
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	r.list = append(r.list, c)
	r.numbers[c.number] = c
	r.outputs[c.output] = c
	return nil
}

// all returns the codes in the order of their numbers.
func (r *registry) all() []*ErrorCode {
	r.mu.RLock()
	list := slices.Clone(r.list)
	r.mu.RUnlock()
	slices.SortFunc(list, func(a, b *ErrorCode) int { return cmp.Compare(a.number, b.number) })
	return list
}

// byNumber returns the code with a number, or nil.
func (r *registry) byNumber(number int) *ErrorCode {
	r.mu.RLock()
	c, ready := r.numbers[number], r.numbers != nil
	r.mu.RUnlock()
	if ready {
		return c
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.index()
	return r.numbers[number]
}

// check returns what is wrong with a code by itself.
func check(c *ErrorCode) []error {
	var faults []error
	if !validStatus(c.number / detailBase) {
		faults = append(faults, errors.New("the number is not in 40000 to 59999"))
	}
	if !upperSnake().MatchString(c.output) {
		faults = append(faults, errors.New("the label is not UPPER_SNAKE"))
	}
	if c.en == "" {
		faults = append(faults, errors.New("the English message is empty"))
	}
	if c.zh == "" {
		faults = append(faults, errors.New("the Chinese message is empty"))
	}
	return faults
}

var upperSnake = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)
})
