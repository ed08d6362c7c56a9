// Package release tests what make dist makes.
package release
