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
)

const (
	// tagName is gin's: one tag serves gin's binding and this package.
	tagName = "binding"

	// registerWait bounds how long a registration waits for the validations that are under way. Only a
	// registration from inside a rule can reach it.
	registerWait = 5 * time.Second
)

// engine is the validator, its languages and the rules that were added to it.
type engine struct {
	validator *validator.Validate
	messages  *messages

	// gate keeps registrations and validations apart, because the validator reads its rules without a
	// lock. Writers only ever TryLock: a waiting Lock would block the inner of two nested validations
	// and with it the outer one, and TestConcurrentFirstUseAndRegistration would not return.
	gate  sync.RWMutex
	mu    sync.Mutex // orders registrations
	rules map[string]*rule
}

// rule is a replaceable validation function.
type rule struct {
	fn atomic.Pointer[validator.Func]
}

func (r *rule) run(fl validator.FieldLevel) bool { return (*r.fn.Load())(fl) }

// shared is the one engine. It is no sync.OnceValue, because an initializer that refers to the
// constructor would link the validator into programs that never validate.
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
	e := &engine{validator: v, messages: newMessages(v), rules: map[string]*rule{}}
	for _, r := range ownRules {
		if err := e.register(r.tag, r.fn, r.english, r.chinese); err != nil {
			panic(err) // a fault in this package's table
		}
	}
	if err := v.RegisterValidation("email", quickEmail(validator.New())); err != nil {
		panic(err)
	}
	return e
}

func (e *engine) register(tag string, fn validator.Func, english, chinese string) (err error) {
	if tag == "" || fn == nil || english == "" || chinese == "" {
		return fmt.Errorf("xvalid: rule %q needs a name, a function and a message in both languages", tag)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.messages.add(tag, english, chinese); err != nil {
		return fmt.Errorf("xvalid: rule %q: %w", tag, err)
	}
	if r, ok := e.rules[tag]; ok {
		r.fn.Store(&fn)
		return nil
	}
	if !e.lock() {
		return fmt.Errorf("xvalid: rule %q: registered from inside a validation", tag)
	}
	defer e.gate.Unlock()
	defer func() {
		if p := recover(); p != nil { // the validator's answer to a reserved name
			err = fmt.Errorf("xvalid: rule %q: %v", tag, p)
		}
	}()
	r := new(rule)
	r.fn.Store(&fn)
	if err := e.validator.RegisterValidation(tag, r.run); err != nil {
		return fmt.Errorf("xvalid: rule %q: %w", tag, err)
	}
	e.rules[tag] = r
	return nil
}

// lock takes the gate for writing as soon as no validation runs.
func (e *engine) lock() bool {
	deadline := time.Now().Add(registerWait)
	for !e.gate.TryLock() {
		if time.Now().After(deadline) {
			return false
		}
		<-time.After(time.Millisecond)
	}
	return true
}

func (e *engine) validate(ctx context.Context, value any) error {
	e.gate.RLock()
	defer e.gate.RUnlock()
	return e.walk(ctx, reflect.ValueOf(value), 0)
}

var timeType = reflect.TypeFor[time.Time]()

// walk validates what is under v, at a depth.
func (e *engine) walk(ctx context.Context, v reflect.Value, depth int) error {
	if depth > maxNesting {
		return tooDeep(v.Type())
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
		if !holdsStructs(v.Type().Elem()) {
			return nil
		}
		return e.elements(ctx, v, depth+1)
	default:
		return nil
	}
}

func holdsStructs(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Interface
}

func (e *engine) elements(ctx context.Context, v reflect.Value, depth int) error {
	var failed sliceError
	for i := range v.Len() {
		err := e.walk(ctx, v.Index(i), depth)
		if err == nil {
			continue
		}
		if _, wrong := errors.AsType[*RuleError](err); wrong {
			return err
		}
		if failed = append(failed, elementError{Index: i, Err: err}); len(failed) == MaxFailures {
			break
		}
	}
	if failed == nil {
		return nil
	}
	return failed
}

// structure validates one struct. The validator panics with a text, or lets reflect panic, where a rule
// does not fit its field; every other panic comes from a rule of the application and goes on.
func (e *engine) structure(ctx context.Context, v reflect.Value) (err error) {
	t := v.Type()
	if exceeds(v, false, 0) {
		return tooDeep(t)
	}
	if v.CanAddr() { // without a copy
		v = v.Addr()
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case string:
			err = &RuleError{Type: t, Problem: p}
		case badParameter:
			err = &RuleError{Type: t, Problem: string(p)}
		case *reflect.ValueError:
			err = &RuleError{Type: t, Problem: p.Error()}
		default:
			panic(p)
		}
	}()
	return e.validator.StructCtx(ctx, v.Interface())
}

// RuleError says that the rules of a type are wrong: an unknown rule, a pattern that does not compile, a
// rule on a field of a kind that it cannot judge. The fault is the program's, not the client's.
type RuleError struct {
	Type    reflect.Type
	Problem string
}

// Error implements error.
func (e *RuleError) Error() string {
	return "xvalid: " + e.Type.String() + ": " + strings.TrimPrefix(e.Problem, "xvalid: ")
}

// sliceError lists the elements of a slice that failed, at most MaxFailures.
type sliceError []elementError

// elementError is what is wrong with one element of a slice.
type elementError struct {
	Index int
	Err   error
}

// Error implements error.
func (s sliceError) Error() string {
	texts := make([]string, len(s))
	for i, e := range s {
		texts[i] = "[" + strconv.Itoa(e.Index) + "]: " + e.Err.Error()
	}
	return strings.Join(texts, "\n")
}

// Unwrap returns the errors of the elements.
func (s sliceError) Unwrap() []error {
	errs := make([]error, len(s))
	for i, e := range s {
		errs[i] = e.Err
	}
	return errs
}
