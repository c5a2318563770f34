package xdb

// Code exports code for tests.
var Code = code
