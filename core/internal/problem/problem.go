// Package problem takes apart the errors that join everything that is wrong with a start.
package problem

import (
	"errors"
	"slices"
)

// List returns the problems that err joins, at any depth: one line each.
func List(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || err.Error() != errors.Join(joined.Unwrap()...).Error() {
		return []error{err}
	}
	var list []error
	for _, e := range joined.Unwrap() {
		list = append(list, List(e)...)
	}
	return list
}

// Distinct joins the problems of err and drops those whose text repeats an earlier one.
func Distinct(err error) error {
	var list []error
	for _, problem := range List(err) {
		if !slices.ContainsFunc(list, func(e error) bool { return e.Error() == problem.Error() }) {
			list = append(list, problem)
		}
	}
	return errors.Join(list...)
}
