// Package agreement weighs by the finished command what is known from outside: a link
// of a known rate, and servers that other tools ask too.
package agreement
