package site

import "context"

// lost are the clusters whose network no longer is what is weighed, and why.
func (k *keeper) lost() map[string]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	lost := map[string]string{}
	for name, s := range k.running {
		if err := s.setup.Lost(); err != nil {
			lost[name] = err.Error()
		}
	}
	return lost
}

// Lost returns the clusters whose network no longer is what is weighed, and why.
func (l *Lab) Lost(ctx context.Context) (map[string]string, error) {
	rep, err := l.ask(ctx, doLost, request{})
	return rep.Lost, err
}
