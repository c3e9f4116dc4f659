// Modules from which the types of Kubernetes' APIs are read (kubernetes-types.ts); none of them is built.
module minik8s.dev/kubernetes-types

go 1.26.0

require (
	k8s.io/api v0.37.2
	k8s.io/apiextensions-apiserver v0.37.2
	k8s.io/apimachinery v0.37.2
	k8s.io/kube-aggregator v0.37.2
)
