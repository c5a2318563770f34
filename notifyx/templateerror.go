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
	where  string
	what   string
	cause  error
	absent bool
}

// placed returns an error that appends a position at the start of what, such as 3:14, to
// the origin.
func placed(origin, what string) *templateError {
	place, rest, ok := strings.Cut(what, ": ")
	if ok && strings.Trim(place, "0123456789:") == "" {
		return &templateError{where: origin + ":" + place, what: rest}
	}
	return &templateError{where: origin, what: what}
}

// Error implements error.
func (e *templateError) Error() string {
	if e.where == "" {
		return "notifyx: " + e.what
	}
	return "notifyx: " + e.where + ": " + e.what
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
			where: fmt.Sprintf("template %q", name),
			what:  err.Error(),
		})
	}
	if len(all) == 1 {
		return all[0]
	}
	return errors.Join(all...)
}
