// Package middleware proves that middleware of third parties works with Plinth's request
// pipeline.
package middleware
