package email

import (
	"errors"
	"fmt"
	"net/textproto"
	"strconv"
)

// deliver sends one message over s. keep reports whether the connection can be reused.
func (s *session) deliver(c Config, m *composed) (keep bool, err error) {
	if s.used > 0 {
		if err := s.probe(c); err != nil {
			return false, err
		}
	}
	s.used++
	if err := s.checkSupport(m); err != nil {
		return true, err
	}
	err = s.transmit(c, m)
	if reply, ok := errors.AsType[*SMTPError](err); ok && reply.Code != codeClosing {
		return s.reset(c) == nil, err
	}
	return err == nil, err
}

// probe checks that a reused connection still works. No part of the message was sent yet,
// so every failure, including a timeout, leads to a new connection: a firewall may have
// dropped the old one silently.
func (s *session) probe(c Config) error {
	c.CommandTimeout = min(c.CommandTimeout, c.DialTimeout)
	err := s.reset(c)
	if err != nil && s.conn.ctx.Err() == nil {
		return fail(ErrConnection, stepReset, errDropped)
	}
	return err
}

// checkSupport rejects a message that exceeds the announced capabilities of the server.
func (s *session) checkSupport(m *composed) error {
	if supported, _ := s.client.Extension("SMTPUTF8"); m.needsUTF8 && !supported {
		return invalid(errors.New("the server does not support non-ASCII addresses"))
	}
	_, text := s.client.Extension("SIZE")
	if limit, err := strconv.ParseInt(text, 10, 64); err == nil && limit > 0 &&
		int64(len(m.content)) > limit {
		return invalid(fmt.Errorf("it is larger than the limit of the server (%d bytes)", limit))
	}
	// if SMTPUTF8 is requested without need, the next mail server may reject the message
	s.client.SkipSMTPUTF8(!m.needsUTF8)
	return nil
}

// transmit sends the envelope and the content.
func (s *session) transmit(c Config, m *composed) error {
	s.conn.startStep(c.CommandTimeout)
	if err := s.client.Mail("<" + m.from.Address + ">"); err != nil {
		return s.stepError(stepMail, err)
	}
	if err := s.recipients(c, m); err != nil {
		return err
	}
	return s.content(c, m)
}

// recipients sends all recipients. The error is a *RecipientsError if the server rejects
// some.
func (s *session) recipients(c Config, m *composed) error {
	out := &RecipientsError{Rejected: map[string]*SMTPError{}}
	for _, address := range m.recipients {
		s.conn.startStep(c.CommandTimeout)
		err := s.client.Rcpt("<" + address + ">")
		if err == nil {
			out.Accepted = append(out.Accepted, address)
			continue
		}
		err = s.stepError(stepRcpt, err)
		reply, ok := errors.AsType[*SMTPError](err)
		if !ok || reply.Code == codeClosing {
			return err
		}
		out.Rejected[address] = reply
	}
	if len(out.Rejected) > 0 {
		return out
	}
	return nil
}

// content sends the content and waits for the reply. With a positive reply the server is
// responsible for the message.
func (s *session) content(c Config, m *composed) error {
	s.conn.startStep(c.CommandTimeout)
	w, err := s.client.Data()
	if err != nil {
		return s.stepError(stepData, err)
	}
	s.conn.startStep(c.DataTimeout)
	if _, err := w.Write(m.content); err != nil {
		return s.stepError(stepContent, err)
	}
	err = w.Close() // sends the final dot and reads the reply
	var reply *textproto.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &reply) && reply.Code >= 200 && reply.Code < 300:
		return nil
	case errors.As(err, &reply) && reply.Code >= 400 && reply.Code < 600:
		return newSMTPError(stepContent, reply)
	case !s.conn.sent():
		// the server cannot have accepted the message without the dot
		return s.stepError(stepContent, err)
	default:
		return uncertain(s.stepError(stepContent, err))
	}
}

// uncertain marks the error of a missing reply to the content.
func uncertain(err error) error {
	var f *failure
	if errors.As(err, &f) && errors.Is(f.cause, errDropped) {
		// errDropped would cause a retry
		err = fail(ErrConnection, stepContent, errors.New("no reply"))
	}
	return fail(ErrUncertain, "", err)
}
