package xdb

// Code is code, for tests.
var Code = code
