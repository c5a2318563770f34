// Package alldrivers tests a program that links all database and cache drivers.
package alldrivers
