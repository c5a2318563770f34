// Package alldrivers tests what a program does that links every database and cache
// driver.
package alldrivers
