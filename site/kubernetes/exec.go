package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"
)

// ExecVerb is the verb by which this program carries the standard streams of a command in a pod.
const ExecVerb = "exec-in-pod"

// Exec starts a command in the container of a pod of a run, and gives the status at which it
// ended. It asks for WebSocket, which Kubernetes has since 1.29, and where that is refused for
// SPDY, with the user's rights: get and create of pods/exec.
func Exec(ctx context.Context, kubeContext, namespace, pod string, command []string, in io.Reader, out, complaints io.Writer) (status int, err error) {
	config, err := configOf(kubeContext)
	if err != nil {
		return 0, err
	}
	to, err := execURL(config, namespace, pod, command)
	if err != nil {
		return 0, err
	}
	stream, err := executor(config, to)
	if err == nil {
		err = stream.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: in, Stdout: out, Stderr: complaints})
	}
	return statusOf(err, namespace+"/"+pod)
}

// statusOf divides the status of a command from what kept it from being started.
func statusOf(err error, pod string) (int, error) {
	var ended exec.CodeExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &ended):
		return ended.Code, nil
	}
	return 0, fmt.Errorf("exec in pod %s: %w", pod, err)
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

func executor(config *rest.Config, to *url.URL) (remotecommand.Executor, error) {
	spdy, err := remotecommand.NewSPDYExecutor(config, "POST", to)
	if err != nil {
		return nil, err
	}
	socket, err := remotecommand.NewWebSocketExecutor(config, "GET", to.String())
	if err != nil {
		return nil, err
	}
	return remotecommand.NewFallbackExecutor(socket, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
}
