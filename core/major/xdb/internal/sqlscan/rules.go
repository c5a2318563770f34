package sqlscan

// Rules define what a string, a name and a comment are for a database.
type Rules struct {
	// Backslash: a backslash escapes within a string.
	Backslash bool
	// Doubtful: it is unknown whether it does; such a string has no end.
	Doubtful bool
	// DoubleQuotedTexts: double quotes enclose a string instead of a name.
	DoubleQuotedTexts bool
	// Brackets: [a name] may be written like this.
	Brackets bool
	// DollarQuotes: $tag$ a string $tag$ is allowed.
	DollarQuotes bool
	// OracleQuotes: q'[a string]' is allowed.
	OracleQuotes bool
	// NestedComments: a comment may contain another.
	NestedComments bool
	// HashComments: # begins a comment.
	HashComments bool
	// SpacedDashes: -- begins a comment only before white space.
	SpacedDashes bool
	// ExecutedComments is true where the text within /*! */, and /*M! */ of MariaDB, is
	// run; it is then no Comment.
	ExecutedComments bool
}

// RulesOf returns the rules of a database by gorm's name of it. One that is not known has
// PostgreSQL's, which are those of the standard and more.
func RulesOf(dialect string) Rules {
	switch dialect {
	case "mysql":
		return Rules{
			Backslash: true, DoubleQuotedTexts: true, HashComments: true, SpacedDashes: true,
			ExecutedComments: true,
		}
	case "sqlite":
		return Rules{DoubleQuotedTexts: true, Brackets: true}
	case "sqlserver":
		return Rules{Brackets: true, NestedComments: true}
	case "oracle":
		return Rules{OracleQuotes: true}
	default:
		return Rules{DollarQuotes: true, NestedComments: true}
	}
}
