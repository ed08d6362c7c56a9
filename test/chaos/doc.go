// Package chaos holds tare to what it promises at its worst moments: whatever is killed, or
// stopped, full or short, the machine is as before, the next command works, and a result is
// whole or absent.
package chaos
