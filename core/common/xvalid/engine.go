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
	// tagName is the tag that gin uses, so that one tag serves both packages.
	tagName = "binding"

	// registerWait limits how long a registration waits for running validations. Only a
	// registration inside a rule can exceed it.
	registerWait = 5 * time.Second
)

// engine is the validator with its messages and registered rules.
type engine struct {
	validator *validator.Validate
	messages  *messages
	checked   sync.Map // types without errors: rules are never removed

	// gate separates registrations from validations, because the validator reads its
	// rules without a lock. Writers only use TryLock. A waiting Lock would block the
	// inner of two nested validations and deadlock; TestRegisterValidation_Concurrency
	// covers this.
	gate  sync.RWMutex
	mu    sync.Mutex                                 // serializes registrations
	rules map[string]*atomic.Pointer[validator.Func] // registered rules, which may be replaced
}

// shared is the engine of the process. It is not a sync.OnceValue: an initializer that
// refers to newEngine would link the validator into programs that do not validate.
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
		panic(err) // an error in a table of this package
	}
	return e
}

func (e *engine) register(tag string, fn validator.Func, english, chinese string) (err error) {
	if tag == "" || fn == nil || english == "" || chinese == "" {
		return fmt.Errorf(
			"xvalid: rule %q needs a name, a function and a message in both languages", tag)
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
	for !e.gate.TryLock() { // until no validation is running
		if time.Now().After(deadline) {
			return fmt.Errorf("xvalid: rule %q: registered inside a validation", tag)
		}
		<-time.After(time.Millisecond)
	}
	defer e.gate.Unlock()
	defer func() {
		if p := recover(); p != nil { // the validator panics for a reserved name
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

// walk validates v, which is at the given depth, and the values in it. Its error is a
// validator.ValidationErrors or a *RuleError.
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

// elements validates the elements of a slice or array until the number of failures
// reaches MaxFailures.
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

type elementError struct {
	validator.FieldError
	index string // in brackets, including the indexes of outer lists
}

// unwrap returns the failure of the validator and the indexes of its elements.
func unwrap(fe validator.FieldError) (failure validator.FieldError, index string) {
	if e, ok := fe.(elementError); ok {
		return e.FieldError, e.index
	}
	return fe, ""
}

// Error implements error.
func (e elementError) Error() string { return e.index + ": " + e.FieldError.Error() }

// structure validates one struct. It converts string panics of rules and panics of
// reflect, which mean that a rule does not fit its field, to a RuleError. It does not
// recover other panics.
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
	if v.CanAddr() { // avoids a copy
		v = v.Addr()
	}
	return e.validator.StructCtx(ctx, v.Interface())
}

// check reports the first invalid rule in the tags of each struct type that values of t
// contain. It does not run rules.
func (e *engine) check(t reflect.Type, seen map[reflect.Type]bool) (errs []error) {
	if t = element(t); t.Kind() != reflect.Struct || t.ConvertibleTo(timeType) || seen[t] {
		return nil
	}
	seen[t] = true
	if err := e.parse(t); err != nil {
		return []error{err}
	}
	for f := range t.Fields() {
		if (f.IsExported() || f.Anonymous) && f.Tag.Get(tagName) != "-" {
			errs = append(errs, e.check(f.Type, seen)...)
		}
	}
	return errs
}

// parse makes the validator read the tags of a struct type. It selects no field, so no
// rule of a field runs. A type with the same fields has no struct-level rules.
func (e *engine) parse(t reflect.Type) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &RuleError{Type: t, Problem: fmt.Sprint(p)}
		}
	}()
	var fields []reflect.StructField
	for f := range t.Fields() {
		if f.IsExported() {
			fields = append(fields, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
		}
	}
	return e.validator.StructPartial(reflect.New(reflect.StructOf(fields)).Interface())
}

// RuleError means that the rules of a type are invalid. Examples are an unknown rule, a
// pattern that does not compile, and a rule that does not support the type of its field.
// It is an error of the program, not of the client.
type RuleError struct {
	Type    reflect.Type
	Problem string
}

// Error implements error.
func (e *RuleError) Error() string {
	return "xvalid: " + e.Type.String() + ": " + strings.TrimPrefix(e.Problem, "xvalid: ")
}
