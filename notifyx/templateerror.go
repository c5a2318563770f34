package notifyx

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

var errTooLong = fmt.Errorf("a part would be longer than %d bytes", maxOutput)

// templateError is an ErrTemplate, and an ErrPermanent unless absent is set.
type templateError struct {
	origin  string
	problem string
	cause   error
	absent  bool
}

// withPosition returns an error that appends a position at the start of problem, such as
// 3:14, to the origin.
func withPosition(origin, problem string) *templateError {
	place, rest, ok := strings.Cut(problem, ": ")
	if ok && strings.Trim(place, "0123456789:") == "" {
		return &templateError{origin: origin + ":" + place, problem: rest}
	}
	return &templateError{origin: origin, problem: problem}
}

// Error implements error.
func (e *templateError) Error() string {
	if e.origin == "" {
		return "notifyx: " + e.problem
	}
	return "notifyx: " + e.origin + ": " + e.problem
}

// Is reports whether target is ErrTemplate, or ErrPermanent unless the template is
// absent.
func (e *templateError) Is(target error) bool {
	return target == ErrTemplate || target == ErrPermanent && !e.absent
}

// Unwrap returns the error of the file system, or nil.
func (e *templateError) Unwrap() error { return e.cause }

// MissingVariablesError reports variables that a template needs and that have no value.
// It is an ErrTemplate and an ErrPermanent.
type MissingVariablesError struct {
	Template string
	// Variables has every missing path of ${name} in all parts, and the first missing
	// variable of each Go template.
	Variables []string
}

// Error implements error.
func (e *MissingVariablesError) Error() string {
	return fmt.Sprintf("notifyx: template %q: missing variables: %s",
		e.Template, strings.Join(e.Variables, ", "))
}

// Is reports whether target is ErrTemplate or ErrPermanent.
func (e *MissingVariablesError) Is(target error) bool {
	return target == ErrTemplate || target == ErrPermanent
}

func (e *MissingVariablesError) add(names ...string) {
	for _, name := range names {
		if !slices.Contains(e.Variables, name) {
			e.Variables = append(e.Variables, name)
		}
	}
}

// failures collects the errors of the parts of one template.
type failures struct {
	missing MissingVariablesError
	others  []error
}

func (f *failures) add(err error) {
	if m := (*MissingVariablesError)(nil); errors.As(err, &m) {
		f.missing.add(m.Variables...)
		return
	}
	f.others = append(f.others, err)
}

// of returns the failures of the template called name as one error, or nil.
func (f *failures) of(name string) error {
	var all []error
	if len(f.missing.Variables) > 0 {
		f.missing.Template = name
		all = append(all, &f.missing)
	}
	for _, err := range f.others {
		all = append(all, &templateError{
			origin:  fmt.Sprintf("template %q", name),
			problem: err.Error(),
		})
	}
	if len(all) == 1 {
		return all[0]
	}
	return errors.Join(all...)
}
