// Package protocol is how tare's processes exchange requests and replies. The side that was
// started, or that connects, sends a greeting first, which names the protocol: another is refused.
// Each user declares its own greeting, requests and replies, which embed those of this package.
//
//   - stream.go: messages over a pair of streams, or a socket
//   - messages.go: the parts that all greetings, requests and replies have
//   - serve.go: the side that replies
//   - peer.go: the side that asks
package protocol
