package site

// NewWithFiles is New with the given assets.
var NewWithFiles = newSite

// Embedded contains the assets of the program.
var Embedded = embedded
