// Package guest holds the tests that run in a virtual machine, on a kernel that has what
// many machines' kernels have not. test/vm boots it; elsewhere they fail.
package guest
