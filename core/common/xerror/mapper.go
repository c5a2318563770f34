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

// Mapper returns the code of an error, or nil if it does not recognize the error.
//
// Mappers must be safe for concurrent use. A panic counts as nil and is logged.
type Mapper func(err error) *ErrorCode

// MapIs returns a mapper that returns code for every error that matches target, as
// reported by errors.Is.
func MapIs(target error, code *ErrorCode) Mapper {
	return func(err error) *ErrorCode {
		if errors.Is(err, target) {
			return code
		}
		return nil
	}
}

// MapAs returns a mapper that returns code for every error that matches T, as reported by
// errors.As.
func MapAs[T error](code *ErrorCode) Mapper {
	return func(err error) *ErrorCode {
		if _, ok := errors.AsType[T](err); ok {
			return code
		}
		return nil
	}
}

// RegisterMapper adds mappers of the framework or a driver. They run after the
// application's mappers and before those of the standard library. Later registrations run
// first; the mappers of one call run in the order of the arguments.
func RegisterMapper(m ...Mapper) { frameworkMappers.add(m) }

// RegisterApplicationMapper adds mappers of the application, which run before all others.
// Later registrations run first; the mappers of one call run in the order of the
// arguments. remove unregisters them.
func RegisterApplicationMapper(m ...Mapper) (remove func()) { return applicationMappers.add(m) }

// The mappers are global, because drivers register them in init functions.
var applicationMappers, frameworkMappers mapperList

// mapperList is a list of mapper groups. Readers hold no lock while they call mappers, so
// a mapper may call From or register mappers.
type mapperList struct {
	mu     sync.RWMutex
	groups []*mapperGroup // latest first; copied on write
}

// mapperGroup contains the mappers of one registration. Its address identifies it.
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

func (g mapperGroup) code(err error) *ErrorCode {
	for _, m := range g {
		if c := callMapper(m, err); c != nil {
			return c
		}
	}
	return nil
}

// callMapper calls m and recovers from panics. From has no context, so the log line has
// no request ID.
func callMapper(m Mapper, err error) (code *ErrorCode) {
	defer func() {
		if p := recover(); p != nil {
			xlog.Error(context.Background(), "error mapper panicked",
				slog.String("panic", fmt.Sprint(p)))
		}
	}()
	return m(err)
}
