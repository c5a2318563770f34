package xvalid

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-playground/validator/v10"

	"github.com/plinthgo/plinth/core/common/xerror"
)

const (
	// tagName is gin's: one tag serves gin's binding and this package.
	tagName = "binding"

	// registerWait bounds how long a registration waits for the validations that are
	// under way. Only a registration from inside a rule can reach it.
	registerWait = 5 * time.Second
)

// engine is the validator, its languages and the rules that were added to it.
type engine struct {
	validator *validator.Validate
	messages  *messages

	// gate keeps registrations and validations apart, because the validator reads its
	// rules without a lock. Writers only ever TryLock: a waiting Lock would block the
	// inner of two nested validations and with it the outer one, and
	// TestConcurrentFirstUseAndRegistration would not return.
	gate  sync.RWMutex
	mu    sync.Mutex                                 // orders registrations
	rules map[string]*atomic.Pointer[validator.Func] // what was registered, and may be replaced
}

// shared is the one engine. It is no sync.OnceValue, because an initializer that refers
// to the constructor would link the validator into programs that never validate.
var shared struct {
	sync.Once
	engine *engine
}

func load() *engine {
	shared.Do(func() { shared.engine = newEngine() })
	return shared.engine
}

func newEngine() *engine {
	v := validator.New(validator.WithTagNameFuncBlankOmit())
	v.SetTagName(tagName)
	v.RegisterTagNameFunc(fieldName)
	e := &engine{
		validator: v, messages: newMessages(v),
		rules: map[string]*atomic.Pointer[validator.Func]{},
	}
	err := v.RegisterValidation("email", quickEmail(validator.New()))
	for _, r := range ownRules {
		err = errors.Join(err, e.register(r.tag, r.fn, r.english, r.chinese))
	}
	if err != nil {
		panic(err) // a fault in this package's table
	}
	return e
}

func (e *engine) register(tag string, fn validator.Func, english, chinese string) (err error) {
	if tag == "" || fn == nil || english == "" || chinese == "" {
		return fmt.Errorf("xvalid: rule %q needs a name, a function and a message in both languages", tag)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	err = errors.Join(e.messages.set(xerror.English, tag, english),
		e.messages.set(xerror.Chinese, tag, chinese))
	if err != nil {
		return fmt.Errorf("xvalid: rule %q: %w", tag, err)
	}
	if current, ok := e.rules[tag]; ok {
		current.Store(&fn)
		return nil
	}
	deadline := time.Now().Add(registerWait)
	for !e.gate.TryLock() { // as soon as no validation runs
		if time.Now().After(deadline) {
			return fmt.Errorf("xvalid: rule %q: registered from inside a validation", tag)
		}
		<-time.After(time.Millisecond)
	}
	defer e.gate.Unlock()
	defer func() {
		if p := recover(); p != nil { // the validator's answer to a reserved name
			err = fmt.Errorf("xvalid: rule %q: %v", tag, p)
		}
	}()
	current := new(atomic.Pointer[validator.Func])
	current.Store(&fn)
	run := func(fl validator.FieldLevel) bool { return (*current.Load())(fl) }
	if err := e.validator.RegisterValidation(tag, run); err != nil {
		return fmt.Errorf("xvalid: rule %q: %w", tag, err)
	}
	e.rules[tag] = current
	return nil
}

func (e *engine) validate(ctx context.Context, value any) error {
	e.gate.RLock()
	defer e.gate.RUnlock()
	return e.walk(ctx, reflect.ValueOf(value), 0)
}

var timeType = reflect.TypeFor[time.Time]()

// walk validates what is under v, at a depth. Its error is a validator.ValidationErrors
// or a *RuleError.
func (e *engine) walk(ctx context.Context, v reflect.Value, depth int) error {
	if depth > maxNesting {
		return nestingError(v.Type())
	}
	switch v.Kind() {
	case reflect.Struct:
		if v.Type().ConvertibleTo(timeType) {
			return nil
		}
		return e.structure(ctx, v)
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return e.walk(ctx, v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		return e.elements(ctx, v, depth+1)
	default:
		return nil
	}
}

// elements validates the elements of a slice or array, until MaxFailures have been found.
func (e *engine) elements(ctx context.Context, v reflect.Value, depth int) error {
	var all validator.ValidationErrors
	for i := range v.Len() {
		err := e.walk(ctx, v.Index(i), depth)
		if err == nil {
			continue
		}
		failed, ok := errors.AsType[validator.ValidationErrors](err)
		if !ok {
			return err
		}
		for _, fe := range failed {
			failure, inner := unwrap(fe)
			all = append(all, elementError{failure, "[" + strconv.Itoa(i) + "]" + inner})
		}
		if len(all) >= MaxFailures {
			break
		}
	}
	if all == nil {
		return nil
	}
	return all
}

// elementError is a failure in an element of a slice or array.
type elementError struct {
	validator.FieldError
	index string // in brackets, those of all lists around
}

// unwrap returns the validator's own failure, and the indexes of the elements that it is
// in.
func unwrap(fe validator.FieldError) (failure validator.FieldError, index string) {
	if e, ok := fe.(elementError); ok {
		return e.FieldError, e.index
	}
	return fe, ""
}

// Error implements error.
func (e elementError) Error() string { return e.index + ": " + e.FieldError.Error() }

// structure validates one struct. The validator and the rules of this package panic with
// a text, or let reflect panic, if a rule does not fit its field. Any other panic is the
// application's and goes on.
func (e *engine) structure(ctx context.Context, v reflect.Value) (err error) {
	t := v.Type()
	defer func() {
		switch p := recover().(type) {
		case nil:
		case string:
			err = &RuleError{Type: t, Problem: p}
		case *reflect.ValueError:
			err = &RuleError{Type: t, Problem: p.Error()}
		default:
			panic(p)
		}
	}()
	var s survey
	if s.visit(v, 0, 0); s.tooDeep {
		return nestingError(t)
	}
	if s.full {
		return e.valuesError(ctx, t, s.path)
	}
	if v.CanAddr() { // without a copy
		v = v.Addr()
	}
	return e.validator.StructCtx(ctx, v.Interface())
}

// RuleError says that the rules of a type are wrong: an unknown rule, a pattern that does
// not compile, a rule on a field of a kind that it cannot judge. The fault is the
// program's, not the client's.
type RuleError struct {
	Type    reflect.Type
	Problem string
}

// Error implements error.
func (e *RuleError) Error() string {
	return "xvalid: " + e.Type.String() + ": " + strings.TrimPrefix(e.Problem, "xvalid: ")
}
