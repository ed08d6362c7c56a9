package site

// Address is the socket of a lab's keeper.
func (l *Lab) Address() string { return l.address }

// KeeperPID is the process ID of the keeper that this process started.
func (l *Lab) KeeperPID() int { return l.owned.process.Process.Pid }
