package email

import "context"

// Composed is an encoded message.
type Composed struct {
	Recipients []string
	Content    []byte
}

// Compose validates and encodes a message without a server.
func Compose(ctx context.Context, c *EmailClient, m *Message) (Composed, error) {
	out, err := c.compose(ctx, m)
	if err != nil {
		return Composed{}, err
	}
	return Composed{Recipients: out.recipients, Content: out.content}, nil
}
