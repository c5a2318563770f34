package sqlscan

// Rules define the lexical syntax of a database.
type Rules struct {
	// Backslash: a backslash escapes within a string.
	Backslash bool
	// Doubtful: it is unknown whether a backslash escapes; such a string is Open.
	Doubtful bool
	// DoubleQuotedTexts: double quotes enclose a string instead of a name.
	DoubleQuotedTexts bool
	// Brackets: [name] is a quoted name.
	Brackets bool
	// DollarQuotes: $tag$ string $tag$ is a string.
	DollarQuotes bool
	// OracleQuotes: q'[string]' is a string.
	OracleQuotes bool
	// NestedComments: a comment may contain another.
	NestedComments bool
	// HashComments: # starts a comment.
	HashComments bool
	// SpacedDashes: -- starts a comment only before white space.
	SpacedDashes bool
	// ExecutedComments: the database executes the text within /*! */, and within /*M! */
	// of MariaDB; such a text is not a Comment.
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
