package site

import (
	"context"
	"errors"

	"tare/lab"
)

func (k *keeper) usage() ([]lab.Usage, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lab == nil {
		return nil, errors.New("the lab is not built")
	}
	return k.lab.Usage()
}

// Usage returns the CPU time that each program of the lab has used so far.
func (l *Lab) Usage(ctx context.Context) ([]lab.Usage, error) {
	rep, err := l.ask(ctx, doUsage, request{})
	return rep.Usage, err
}
