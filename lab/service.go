package lab

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// restartWait is how long a daemon that ended stays down: systemd's default for
// RestartSec.
const restartWait = 100 * time.Millisecond

// service is a daemon and the process that it is now.
type service struct {
	host   *Host
	daemon Daemon

	mu      sync.Mutex
	process *Process
	over    bool  // the lab is being taken down
	err     error // why it could not be started again
}

// keep starts the daemon again whenever it ends, until the lab ends.
func (s *service) keep() {
	for {
		s.mu.Lock()
		process := s.process
		s.mu.Unlock()
		<-process.Done
		time.Sleep(restartWait)
		if !s.restart() {
			return
		}
	}
}

// restart starts the daemon again. It reports whether there is one to keep.
func (s *service) restart() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	log, err := s.host.openLog(s.daemon.Name)
	if err == nil {
		s.process, err = s.host.startLogged(s.daemon, log)
		err = errors.Join(err, log.Close())
	}
	if err != nil {
		s.err = fmt.Errorf("start %s in %s again: %w", s.daemon.Name, s.host.Name, err)
	}
	return err == nil
}

// end kills the daemon and what it has started.
func (s *service) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	return errors.Join(s.err, s.host.endDaemon(s.process))
}
