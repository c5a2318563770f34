package email

import (
	"errors"
	"fmt"
	"net/textproto"
	"strconv"
)

// deliver sends one message over s. Where the connection can carry another one
// afterwards, keep is true.
func (s *session) deliver(c Config, m *composed) (keep bool, err error) {
	if s.used > 0 {
		if err := s.probe(c); err != nil {
			return false, err
		}
	}
	s.used++
	if err := s.suits(m); err != nil {
		return true, err
	}
	err = s.transmit(c, m)
	if reply, ok := errors.AsType[*SMTPError](err); ok && reply.Code != codeClosing {
		return s.reset(c) == nil, err
	}
	return err == nil, err
}

// probe finds out whether the server still listens on a connection that was used before.
// Nothing of the message is sent yet, so whatever is wrong is a reason for another
// connection, also a silence: what is between may have forgotten this one.
func (s *session) probe(c Config) error {
	c.CommandTimeout = min(c.CommandTimeout, c.DialTimeout)
	err := s.reset(c)
	if err != nil && s.conn.ctx.Err() == nil {
		return fail(ErrConnection, stepReset, errDropped)
	}
	return err
}

// suits refuses what the server has said that it does not take.
func (s *session) suits(m *composed) error {
	if utf8, _ := s.client.Extension("SMTPUTF8"); m.internationals && !utf8 {
		return refuse(errors.New("the server takes no addresses beyond ASCII"))
	}
	_, text := s.client.Extension("SIZE")
	if limit, err := strconv.ParseInt(text, 10, 64); err == nil && limit > 0 &&
		int64(len(m.content)) > limit {
		return refuse(fmt.Errorf("it is larger than the %d bytes that the server takes", limit))
	}
	// asked for without need, it keeps the message from servers further on
	s.client.SkipSMTPUTF8(!m.internationals)
	return nil
}

// transmit sends the envelope and the content.
func (s *session) transmit(c Config, m *composed) error {
	s.conn.begin(c.CommandTimeout)
	if err := s.client.Mail("<" + m.from.Address + ">"); err != nil {
		return s.wrong(stepMail, err)
	}
	if err := s.recipients(c, m); err != nil {
		return err
	}
	return s.content(c, m)
}

// recipients names all recipients. The error is a *RecipientsError if the server refuses
// some.
func (s *session) recipients(c Config, m *composed) error {
	out := &RecipientsError{Refused: map[string]*SMTPError{}}
	for _, address := range m.recipients {
		s.conn.begin(c.CommandTimeout)
		err := s.client.Rcpt("<" + address + ">")
		if err == nil {
			out.Accepted = append(out.Accepted, address)
			continue
		}
		err = s.wrong(stepRcpt, err)
		reply, ok := errors.AsType[*SMTPError](err)
		if !ok || reply.Code == codeClosing {
			return err
		}
		out.Refused[address] = reply
	}
	if len(out.Refused) > 0 {
		return out
	}
	return nil
}

// content sends the content and waits for the answer, from which on the server is
// responsible for the message.
func (s *session) content(c Config, m *composed) error {
	s.conn.begin(c.CommandTimeout)
	w, err := s.client.Data()
	if err != nil {
		return s.wrong(stepData, err)
	}
	s.conn.begin(c.DataTimeout)
	if _, err := w.Write(m.content); err != nil {
		return s.wrong(stepContent, err)
	}
	err = w.Close() // the dot, and the answer to it
	var reply *textproto.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &reply) && reply.Code >= 200 && reply.Code < 300:
		return nil
	case errors.As(err, &reply) && reply.Code >= 400 && reply.Code < 600:
		return newSMTPError(stepContent, reply)
	case !s.conn.sent():
		return s.wrong(stepContent, err) // without the dot no server accepts a message
	default:
		return uncertain(s.wrong(stepContent, err))
	}
}

// uncertain marks the error of an answer that did not come.
func uncertain(err error) error {
	var f *failure
	if errors.As(err, &f) && errors.Is(f.cause, errDropped) {
		// not one that another try would mend
		err = fail(ErrConnection, stepContent, errors.New("no answer"))
	}
	return fail(ErrUncertain, "", err)
}
