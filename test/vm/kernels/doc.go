// Package kernels tests tare run --kernel on stock kernels: `make vm` says which.
package kernels
