// Package real tests clusters as a user has them: it starts the finished binary,
// and asks by kubectl.
package real
