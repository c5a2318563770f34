// Package constant names the metadata that Plinth's clients and servers exchange.
package constant

import "strings"

// Metadata is the key of a value that a client sends with a call.
type Metadata string

// The keys that a client sends.
const (
	// MetadataAppAccessID holds the id of the application that calls.
	MetadataAppAccessID Metadata = "app_access_id"
	// MetadataAppSecretKey holds the secret of the application that calls.
	MetadataAppSecretKey Metadata = "app_secret_key"
	// MetadataRequestUUID holds the request id, which a chain of services shares.
	MetadataRequestUUID Metadata = "x_request_uuid"
	// MetadataRequestSource holds the name of the service that calls.
	MetadataRequestSource Metadata = "x_request_source"
	// MetadataAcceptLanguage holds the languages of the user for whom the call is made
	// (RFC 9110, section 12.5.4).
	MetadataAcceptLanguage Metadata = "accept-language"
)

// String returns the key as it travels.
func (m Metadata) String() string { return string(m) }

// Dashed returns the key with dashes, as it may travel too: proxies for HTTP drop names
// with underscores.
func (m Metadata) Dashed() string { return strings.ReplaceAll(string(m), "_", "-") }

// Trailer is the key of a value that a server sends when a call ends.
type Trailer string

// TrailerRequestUUID holds the request id.
const TrailerRequestUUID Trailer = "x_request_uuid"

// String returns the key as it travels.
func (t Trailer) String() string { return string(t) }
