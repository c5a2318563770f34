// Package xbase defines the response envelope and its JSON encoding.
//
// It does not depend on error codes or the web framework. Everything is safe for
// concurrent use, but a response must not be modified while it is encoded.
package xbase

import (
	"fmt"
	"slices"
	"strings"
)

// Profile is the JSON format of the envelope.
type Profile uint8

const (
	// ProfilePlinth omits absent fields and writes durations in microseconds. It is the
	// default.
	ProfilePlinth Profile = iota
	// ProfileJava is the format of the Java library: it writes null for an absent message
	// or payload, and durations in milliseconds.
	ProfileJava
	// ProfileJavaStrict is like ProfileJava, but some errors have the less precise code
	// and status of the Java library. See xerror.Error.Status.
	ProfileJavaStrict
)

// IsJava reports whether the profile uses the format of the Java library.
func (p Profile) IsJava() bool { return p == ProfileJava || p == ProfileJavaStrict }

var profileNames = [...]string{
	ProfilePlinth:     "plinth",
	ProfileJava:       "java",
	ProfileJavaStrict: "java-strict",
}

// ParseProfile returns the profile with the given name: "plinth", "java" or
// "java-strict".
func ParseProfile(name string) (Profile, error) {
	if p := slices.Index(profileNames[:], name); p >= 0 {
		return Profile(p), nil
	}
	accepted := strings.Join(profileNames[:], ", ")
	return ProfilePlinth, fmt.Errorf("xbase: %q is not an envelope profile (accepted: %s)",
		name, accepted)
}

// String returns the profile's name.
func (p Profile) String() string {
	if int(p) < len(profileNames) {
		return profileNames[p]
	}
	return fmt.Sprintf("Profile(%d)", uint8(p))
}
