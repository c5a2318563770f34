package xerror

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// Mapper says which code stands for an error that comes from elsewhere; nil says "not
// mine".
//
// It is called from any goroutine. One that panics has said "not mine", and the panic is
// logged.
type Mapper func(err error) *ErrorCode

// MapIs returns a mapper for the errors that errors.Is finds to be target.
func MapIs(target error, code *ErrorCode) Mapper {
	return func(err error) *ErrorCode {
		if errors.Is(err, target) {
			return code
		}
		return nil
	}
}

// MapAs returns a mapper for the errors in which errors.As finds a T.
func MapAs[T error](code *ErrorCode) Mapper {
	return func(err error) *ErrorCode {
		if _, ok := errors.AsType[T](err); ok {
			return code
		}
		return nil
	}
}

// RegisterMapper adds mappers of the framework and of drivers. They are asked after the
// application's and before those of the standard library, the latest registration first;
// within one call in the order given.
func RegisterMapper(m ...Mapper) { frameworkMappers.add(m) }

// RegisterApplicationMapper adds the application's mappers, which are asked before all
// others, the latest registration first; within one call in the order given. Calling
// remove takes them out again.
func RegisterApplicationMapper(m ...Mapper) (remove func()) { return applicationMappers.add(m) }

// The registries of the process. Drivers register while they are initialized, which needs
// a registry that is there before any application is.
var applicationMappers, frameworkMappers mapperList

// mapperList is a list that is read far more often than it is changed. Readers hold no
// lock while they call mappers, so that a mapper may itself register or map.
type mapperList struct {
	mu     sync.RWMutex
	groups []*mapperGroup // latest first; the slice is replaced, never changed
}

// mapperGroup is what one call registered. Its address is its identity.
type mapperGroup []Mapper

func (l *mapperList) add(m []Mapper) (remove func()) {
	g := mapperGroup(slices.DeleteFunc(slices.Clone(m), func(m Mapper) bool { return m == nil }))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.groups = append([]*mapperGroup{&g}, l.groups...)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.groups = slices.DeleteFunc(slices.Clone(l.groups),
			func(other *mapperGroup) bool { return other == &g })
	}
}

// code returns the first answer, or nil.
func (l *mapperList) code(err error) *ErrorCode {
	l.mu.RLock()
	groups := l.groups
	l.mu.RUnlock()
	for _, g := range groups {
		if c := g.code(err); c != nil {
			return c
		}
	}
	return nil
}

// code returns the first answer, or nil.
func (g mapperGroup) code(err error) *ErrorCode {
	for _, m := range g {
		if c := ask(m, err); c != nil {
			return c
		}
	}
	return nil
}

// ask calls one mapper and survives it. From has no context, so the line about a panic
// has no request id.
func ask(m Mapper, err error) (code *ErrorCode) {
	defer func() {
		if p := recover(); p != nil {
			xlog.Error(context.Background(), "error mapper panicked",
				slog.String("panic", fmt.Sprint(p)))
		}
	}()
	return m(err)
}
