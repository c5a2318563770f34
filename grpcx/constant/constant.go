// Package constant defines the metadata keys that Plinth's clients and servers exchange.
package constant

import "strings"

// Metadata is a metadata key that a client sends with a call.
type Metadata string

// Metadata keys of requests.
const (
	// MetadataAppAccessID is the access ID of the calling application.
	MetadataAppAccessID Metadata = "app_access_id"
	// MetadataAppSecretKey is the secret key of the calling application.
	MetadataAppSecretKey Metadata = "app_secret_key"
	// MetadataRequestUUID is the request ID, shared by all services of a call chain.
	MetadataRequestUUID Metadata = "x_request_uuid"
	// MetadataRequestSource is the name of the calling service.
	MetadataRequestSource Metadata = "x_request_source"
	// MetadataAcceptLanguage is the user's preferred languages (RFC 9110, section
	// 12.5.4).
	MetadataAcceptLanguage Metadata = "accept-language"
)

// String returns the key as it is sent.
func (m Metadata) String() string { return string(m) }

// Dashed returns the key with dashes in place of underscores. Servers accept this
// spelling too, because HTTP proxies may drop header names with underscores.
func (m Metadata) Dashed() string { return strings.ReplaceAll(string(m), "_", "-") }

// Trailer is a metadata key that a server sends in the trailer.
type Trailer string

// TrailerRequestUUID is the request ID.
const TrailerRequestUUID Trailer = "x_request_uuid"

// String returns the key as it is sent.
func (t Trailer) String() string { return string(t) }
