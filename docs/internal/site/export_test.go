package site

// NewWithFiles is New with other assets than those of the program.
var NewWithFiles = newSite

// Embedded are the assets of the program.
var Embedded = embedded
