package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"

	"tare/result"
	"tare/site"
)

// carrier carries the streams of commands in the container of a pod, with words before each. It
// asks for WebSocket, which Kubernetes has since 1.29, and where that is refused for SPDY, with the
// user's rights: get and create of pods/exec.
func (c *cluster) carrier(namespace, pod string, words ...string) site.Carrier {
	return func(ctx context.Context, command []string, in io.Reader, out, complaints io.Writer) (status int, err error) {
		stream, err := c.executor(namespace, pod, slices.Concat(words, command))
		if err == nil {
			err = stream.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: in, Stdout: out, Stderr: complaints})
		}
		var ended exec.CodeExitError
		switch {
		case err == nil:
			return 0, nil
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case errors.As(err, &ended) && ended.Code != killed:
			return ended.Code, nil
		case errors.As(err, &ended):
			return 0, errors.New(c.became(ctx, namespace, pod, "tare was killed in it: for its memory, or by hand"))
		}
		return 0, fmt.Errorf("exec in pod %s/%s: %w: %s", namespace, pod, err, c.became(ctx, namespace, pod, cut))
	}
}

// cut is what a stream that ends without the command's status was.
const cut = "the stream to it was ended on its way, by the API server, what is before it, or the node"

// killed is the status of a command that SIGKILL ended.
const killed = 137

// askWait is how long the API server has to say what became of a pod.
const askWait = 3 * time.Second

// became says what has become of a pod in which a command ended too early; otherwise is what has
// ended it where the pod still runs, or nobody says whether it does.
func (c *cluster) became(ctx context.Context, namespace, pod, otherwise string) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWait)
	defer cancel()
	pods, err := list[corev1.Pod](ctx, c, core("pods"), namespace, runLabel)
	one, there := result.First(pods, func(p corev1.Pod) bool { return p.Name == pod })
	switch {
	case err != nil:
		return otherwise + "; the API server does not answer: see whether kubectl get nodes does, and run again"
	case !there:
		return "pod " + pod + " is gone: it was evicted or deleted, or its node drained: run again"
	case one.DeletionTimestamp != nil:
		return "pod " + pod + " is being removed: it was evicted or deleted, or its node is drained: run again"
	case one.Status.Phase != corev1.PodRunning:
		return "pod " + pod + " has ended: " + c.why(ctx, one)
	}
	return "pod " + pod + " still runs: " + otherwise + ": run again"
}

func execURL(config *rest.Config, namespace, pod string, command []string) (*url.URL, error) {
	at, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: the server's address: %w", err)
	}
	at = at.JoinPath("api/v1/namespaces", namespace, "pods", pod, "exec")
	at.RawQuery = url.Values{"container": {containerName}, "stdin": {"true"}, "stdout": {"true"}, "stderr": {"true"}, "command": command}.Encode()
	return at, nil
}

// executor is what asks for a command in a pod.
func (c *cluster) executor(namespace, pod string, command []string) (remotecommand.Executor, error) {
	to, err := execURL(c.config, namespace, pod, command)
	if err != nil {
		return nil, err
	}
	spdy, err := remotecommand.NewSPDYExecutor(c.config, "POST", to)
	if err != nil {
		return nil, err
	}
	socket, err := remotecommand.NewWebSocketExecutor(c.config, "GET", to.String())
	if err != nil {
		return nil, err
	}
	return remotecommand.NewFallbackExecutor(socket, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
}
