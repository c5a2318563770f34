// Package testtypes contains types of tests that have the names of types in other
// packages.
package testtypes

// Group has the name of another type.
type Group struct {
	Size int `json:"size"`
}
