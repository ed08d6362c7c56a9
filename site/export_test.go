package site

import "os"

// KeeperGreeting is what comes before a request to a keeper.
const KeeperGreeting = `{"schema":"` + keeperSchema + `"}` + "\n"

// Address is the socket of a lab's keeper.
func (l *Lab) Address() string { return l.address }

// KeeperPID is the process ID of the keeper that this process started.
func (l *Lab) KeeperPID() int { return l.owned.process.Process.Pid }

// Killed reports whether this process killed the keeper.
func (l *Lab) Killed() bool { return l.owned.killed }

// ClaimCgroups, ReleaseCgroups and CgroupsOf are those of labs with engines.
func ClaimCgroups(name string) (*os.File, error) { return claimCgroups(name) }
func ReleaseCgroups(file *os.File) error         { return releaseCgroups(file) }
func CgroupsOf(name string) string               { return cgroupsOf(name) }

func Fits(s Spec, root string, descriptors int) error { return s.fits(root, descriptors) }
