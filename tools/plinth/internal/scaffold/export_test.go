package scaffold

// What tests in the other package look at.
var (
	ServiceName  = serviceName
	NewEntity    = newEntity
	RenderEntity = renderEntity
)

// Text returns what the file becomes.
func (c Change) Text() []byte { return c.text }
