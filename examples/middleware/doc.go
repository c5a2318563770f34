// Package middleware tests third-party middleware with the request pipeline of Plinth.
package middleware
