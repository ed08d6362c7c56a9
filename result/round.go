package result

// Round is which round of a soak a result is: of a plan that is measured again and again in one lab.
type Round struct {
	Number int     `json:"number"` // from 1
	Rounds int     `json:"rounds"` // that the soak has
	Every  Seconds `json:"every"`  // from the beginning of one to that of the next
	Boot   string  `json:"boot"`   // of the machine: its boot ID
	Lab    string  `json:"lab"`    // rounds that share it were measured in one lab, which was not built again between them
	Took   Seconds `json:"took"`   // until it was measured and explained; 0: it was interrupted

	// Of the time since the round before ended, or since the soak was begun or resumed:
	Left      int     `json:"left_out,omitempty"`  // rounds that are left out, since the one before was not over or the machine was suspended
	Suspended Seconds `json:"suspended,omitempty"` // that the machine was, until the end of this one
	ClockSet  Seconds `json:"clock_set,omitempty"` // by which somebody set the clock of the machine, until the end of this one

	Log    KernelLog `json:"kernel_log"` // until the end of this one
	States []State   `json:"states"`     // of the machine, at the end
}

// KernelLog is what the kernel logged in some time.
type KernelLog struct {
	Lines  []LogLine `json:"lines"`
	More   int       `json:"more,omitempty"`   // lines that were logged too, and are left out
	Unread string    `json:"unread,omitempty"` // why it could not be read, and what would help
}

// LogLine is a record of the kernel's log.
type LogLine struct {
	Level int    `json:"level"` // 0 (emergency) to 6 (information), as of syslog(3)
	At    string `json:"at"`    // RFC 3339; by the clock of the machine when it was read
	Text  string `json:"text"`
}
