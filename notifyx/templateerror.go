package notifyx

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

var errTooLong = fmt.Errorf("a part would be longer than %d bytes", maxOutput)

// templateError is an ErrTemplate, and an ErrPermanent unless it is absent.
type templateError struct {
	where  string
	what   string
	cause  error
	absent bool
}

// placed moves a place, such as 3:14, from the beginning of a text to the origin.
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

// Is makes the error an ErrTemplate.
func (e *templateError) Is(target error) bool {
	return target == ErrTemplate || target == ErrPermanent && !e.absent
}

// Unwrap returns what a file system said, or nil.
func (e *templateError) Unwrap() error { return e.cause }

// MissingVariablesError reports what a template needs and did not get. It is an
// ErrTemplate and an ErrPermanent.
type MissingVariablesError struct {
	Template string
	// Variables has every path of ${name}, in all parts. Of each Go template it has the
	// first that was missing.
	Variables []string
}

// Error implements error.
func (e *MissingVariablesError) Error() string {
	return fmt.Sprintf("notifyx: template %q: missing variables: %s",
		e.Template, strings.Join(e.Variables, ", "))
}

// Is makes the error an ErrTemplate and an ErrPermanent.
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

// failures are what went wrong with the parts of one template.
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
