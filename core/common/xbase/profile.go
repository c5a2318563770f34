// Package xbase is the envelope in which every response travels.
//
// It is data and its encoding: it knows neither error codes nor the web engine.
// Everything in it is safe for concurrent use as long as nobody changes a response that
// is being encoded.
package xbase

import (
	"fmt"
	"slices"
	"strings"
)

// Profile is the shape in which the envelope is written.
type Profile uint8

const (
	// ProfilePlinth leaves out what is absent and counts in microseconds. It is the
	// default.
	ProfilePlinth Profile = iota
	// ProfileJava is the shape of the Java library: null for what is absent,
	// milliseconds.
	ProfileJava
	// ProfileJavaStrict is ProfileJava, with the code and status of the Java library also
	// for the errors that ProfileJava reports more precisely. See xerror.Error.Status.
	ProfileJavaStrict
)

// IsJava reports whether the profile has the shape of the Java library.
func (p Profile) IsJava() bool { return p == ProfileJava || p == ProfileJavaStrict }

// profileNames are the names of the profiles.
var profileNames = [...]string{
	ProfilePlinth: "plinth", ProfileJava: "java",
	ProfileJavaStrict: "java-strict",
}

// ParseProfile reads a profile's name: "plinth", "java" or "java-strict".
func ParseProfile(name string) (Profile, error) {
	if p := slices.Index(profileNames[:], name); p >= 0 {
		return Profile(p), nil
	}
	accepted := strings.Join(profileNames[:], ", ")
	return ProfilePlinth, fmt.Errorf("xbase: %q is no envelope profile (accepted: %s)",
		name, accepted)
}

// String returns the profile's name.
func (p Profile) String() string {
	if int(p) < len(profileNames) {
		return profileNames[p]
	}
	return fmt.Sprintf("Profile(%d)", uint8(p))
}
