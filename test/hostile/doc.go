// Package hostile holds tare serve beside a bounded storm of peers that have no token: an
// honest run keeps its goodput, and the server its memory.
package hostile
