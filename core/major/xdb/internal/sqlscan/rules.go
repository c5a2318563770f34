package sqlscan

// Rules define the lexical syntax of a database.
type Rules struct {
	// Backslash means that a backslash escapes the next character of a string.
	Backslash bool
	// Doubtful means that it is unknown whether a backslash escapes. A string with a
	// backslash is then Open.
	Doubtful bool
	// DoubleQuotedTexts means that double quotes enclose a string instead of a name.
	DoubleQuotedTexts bool
	// Brackets means that [name] is a quoted name.
	Brackets bool
	// DollarQuotes means that $tag$ string $tag$ is a string.
	DollarQuotes bool
	// OracleQuotes means that q'[string]' is a string.
	OracleQuotes bool
	// NestedComments means that a comment may contain another comment.
	NestedComments bool
	// HashComments means that # starts a comment.
	HashComments bool
	// SpacedDashes means that -- starts a comment only before white space.
	SpacedDashes bool
	// ExecutedComments means that the database executes the text in /*! */, and the text
	// in /*M! */ if it is MariaDB. Such text is not a Comment.
	ExecutedComments bool
}

// RulesOf returns the rules of a database by its gorm name. Unknown databases have the
// rules of PostgreSQL, a superset of the SQL standard.
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
