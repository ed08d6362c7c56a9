package dns

import (
	"errors"
	"fmt"

	"golang.org/x/net/dns/dnsmessage"
)

// answered reports whether what came is the open query's response. One to an earlier
// query of the same socket comes too late, or twice, and is skipped, as resolvers do.
// Any other that is not the one that is due is an error.
func (d *dialogue) answered(came []byte) (bool, error) {
	var p dnsmessage.Parser
	h, err := p.Start(came)
	if err != nil {
		return false, fmt.Errorf("the server sent %d bytes that are no message of DNS: %w", len(came), err)
	}
	if h.ID != d.id {
		if back := int(d.id - h.ID); h.Response && back < min(d.asked, 1<<15) {
			return false, nil
		}
		return false, fmt.Errorf("the server answered under ID %d where %d was due", h.ID, d.id)
	}
	if err := d.wrongHeader(h); err != nil {
		return false, err
	}
	if err := d.wrongQuestion(&p); err != nil {
		return false, err
	}
	return true, d.wrongAnswer(&p)
}

func (d *dialogue) wrongHeader(h dnsmessage.Header) error {
	switch {
	case !h.Response:
		return errors.New("the server sent a query, not a response")
	case h.RCode != dnsmessage.RCodeSuccess:
		return fmt.Errorf("the server answered with the code %v", h.RCode)
	case h.Truncated:
		return errors.New("the server's response is truncated: it wants to be asked over TCP")
	}
	return nil
}

func (d *dialogue) wrongQuestion(p *dnsmessage.Parser) error {
	q, err := p.Question()
	if err != nil {
		return fmt.Errorf("read the question of the response: %w", err)
	}
	if q != d.question {
		return fmt.Errorf("the server answered the question %v %v where %v %v was asked", q.Name, q.Type, d.question.Name, d.question.Type)
	}
	if _, err = p.Question(); err != dnsmessage.ErrSectionDone {
		return errors.New("the server answered more than one question")
	}
	return nil
}

// wrongAnswer wants one answer, the address that is due.
func (d *dialogue) wrongAnswer(p *dnsmessage.Parser) error {
	h, err := p.AnswerHeader()
	switch {
	case err == dnsmessage.ErrSectionDone:
		return errors.New("the server's response has no answer")
	case err != nil:
		return fmt.Errorf("read the answer: %w", err)
	case h.Name != d.question.Name || h.Type != d.question.Type || h.Class != d.question.Class:
		return fmt.Errorf("the server answered %v %v where %v %v was asked", h.Name, h.Type, d.question.Name, d.question.Type)
	}
	a, err := p.AResource()
	if err != nil {
		return fmt.Errorf("read the address: %w", err)
	}
	if a.A != d.due {
		return fmt.Errorf("the server answered %d.%d.%d.%d where %d.%d.%d.%d was due", a.A[0], a.A[1], a.A[2], a.A[3], d.due[0], d.due[1], d.due[2], d.due[3])
	}
	if _, err = p.AnswerHeader(); err != dnsmessage.ErrSectionDone {
		return errors.New("the server gave more than one answer")
	}
	return nil
}
