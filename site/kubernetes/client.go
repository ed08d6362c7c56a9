package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"

	"tare/site"
)

// cluster is the API server of a kubeconfig.
type cluster struct {
	api    dynamic.Interface
	config *rest.Config
}

// configOf reads the user's kubeconfig: KUBECONFIG, else ~/.kube/config, else that of a pod.
func configOf(name string) (*rest.Config, error) {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{CurrentContext: name}).ClientConfig()
	if err != nil {
		return nil, &site.ChoiceError{Text: fmt.Sprintf("read the kubeconfig: %v: KUBECONFIG names its file, and --context one of its contexts (kubectl config get-contexts)", err)}
	}
	config.QPS, config.Burst = 200, 400
	config.WarningHandler = rest.NoWarnings{}
	return config, nil
}

// Contexts names those of the user's kubeconfig by alphabet; none: it can't be read.
func Contexts() []string {
	config, err := clientcmd.NewDefaultClientConfigLoadingRules().Load()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(config.Contexts))
}

func (s Site) connect() (*cluster, error) {
	config, err := configOf(s.Context)
	if err != nil {
		return nil, err
	}
	return reach(config)
}

// reach is the API server of a configuration.
func reach(config *rest.Config) (*cluster, error) {
	api, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("reach the cluster at %s: %w: look at the kubeconfig", config.Host, err)
	}
	klog.SetLogger(logr.Discard()) // what it reports of streams that end is said by what carries them, once
	return &cluster{api, config}, nil
}

// kind is a kind of object: how the API calls it.
type kind struct{ group, version, name string }

// core is a kind of the API's first group.
func core(name string) kind { return kind{"", "v1", name} }

func daemonSets() kind { return kind{"apps", "v1", "daemonsets"} }

func replicaSets() kind { return kind{"apps", "v1", "replicasets"} }

func policies() kind { return kind{"networking.k8s.io", "v1", "networkpolicies"} }

// of are the objects of a kind in a namespace; empty: of the whole cluster.
func (c *cluster) of(k kind, namespace string) dynamic.ResourceInterface {
	all := c.api.Resource(schema.GroupVersionResource{Group: k.group, Version: k.version, Resource: k.name})
	if namespace == "" {
		return all
	}
	return all.Namespace(namespace)
}

// create makes an object, and reads into it what the cluster made of it.
func (c *cluster) create(ctx context.Context, o object) error {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.body)
	if err != nil {
		return fmt.Errorf("write %s: %w", o.kind.name, err)
	}
	made, err := c.of(o.kind, o.namespace).Create(ctx, &unstructured.Unstructured{Object: fields}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(made.Object, o.body)
}

// list gives the objects that a selector of labels chooses.
func list[T any](ctx context.Context, c *cluster, k kind, namespace, labels string) ([]T, error) {
	found, err := c.of(k, namespace).List(ctx, metav1.ListOptions{LabelSelector: labels})
	if err != nil {
		return nil, c.explain(fmt.Sprintf("list %s", k.name), err)
	}
	all := make([]T, len(found.Items))
	for n, item := range found.Items {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &all[n]); err != nil {
			return nil, fmt.Errorf("read %s of the cluster: %w", k.name, err)
		}
	}
	return all, nil
}

// explain adds to an error of the API server where that is.
func (c *cluster) explain(doing string, err error) error {
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	if _, answered := err.(apierrors.APIStatus); !answered {
		err = fmt.Errorf("%w: look whether kubectl get nodes answers", err)
	}
	return fmt.Errorf("%s at %s: %w", doing, c.config.Host, err)
}

// asYAML writes documents of a file as kubectl apply takes it.
func asYAML(documents []any) (string, error) {
	var text strings.Builder
	for _, d := range documents {
		one, err := yaml.Marshal(d)
		if err != nil {
			return "", err
		}
		text.WriteString("---\n" + string(one))
	}
	return text.String(), nil
}
