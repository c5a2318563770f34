// Package joined splits joined errors.
package joined

import "errors"

// List returns the errors that are joined in err, at any depth. It returns nil for a nil
// err.
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
