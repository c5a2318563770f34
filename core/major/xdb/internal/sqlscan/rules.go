package sqlscan

// Rules say what a database takes for a text, a name and a comment.
type Rules struct {
	// Backslash is true where a backslash escapes within a text.
	Backslash bool
	// Doubtful is true where nobody knows whether it does: such a text has no end.
	Doubtful bool
	// DoubleQuotedTexts is true where double quotes are those of a text instead of a
	// name.
	DoubleQuotedTexts bool
	// Brackets is true where [a name] may be written so.
	Brackets bool
	// DollarQuotes is true where $tag$ a text $tag$ may be.
	DollarQuotes bool
	// OracleQuotes is true where q'[a text]' may be.
	OracleQuotes bool
	// NestedComments is true where a comment may hold another.
	NestedComments bool
	// HashComments is true where # begins a comment.
	HashComments bool
	// SpacedDashes is true where -- begins a comment only before white space.
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
			Backslash: true, DoubleQuotedTexts: true, HashComments: true, SpacedDashes: true, ExecutedComments: true,
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
