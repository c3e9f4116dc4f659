/**
 * Field numbers of networking and discovery,
 * as Kubernetes 1.32 publishes them in its generated.proto files.
 */
export const networkMessages: Readonly<Record<string, string>> = {
  // networking/v1
  V1HTTPIngressPath: '1:path? 2:backend 3:pathType',
  V1HTTPIngressRuleValue: '1:paths',
  V1IPBlock: '1:cidr 2:except',
  V1Ingress: '1:metadata 2:spec 3:status',
  V1IngressBackend: '3:resource 4:service',
  V1IngressClass: '1:metadata 2:spec',
  V1IngressClassParametersReference: '1:apiGroup 2:kind 3:name 4:scope 5:namespace',
  V1IngressClassSpec: '1:controller? 2:parameters',
  V1IngressLoadBalancerIngress: '1:ip? 2:hostname? 4:ports',
  V1IngressLoadBalancerStatus: '1:ingress',
  V1IngressPortStatus: '1:port 2:protocol 3:error',
  V1IngressRule: '1:host? 2:^V1IngressRuleValue',
  V1IngressRuleValue: '1:http',
  V1IngressServiceBackend: '1:name 2:port',
  V1IngressSpec: '1:defaultBackend 2:tls 3:rules 4:ingressClassName',
  V1IngressStatus: '1:loadBalancer',
  V1IngressTLS: '1:hosts 2:secretName?',
  V1NetworkPolicy: '1:metadata 2:spec',
  V1NetworkPolicyEgressRule: '1:ports 2:to',
  V1NetworkPolicyIngressRule: '1:ports 2:from',
  V1NetworkPolicyPeer: '1:podSelector 2:namespaceSelector 3:ipBlock',
  V1NetworkPolicyPort: '1:protocol 2:port 3:endPort',
  V1NetworkPolicySpec: '1:podSelector 2:ingress 3:egress 4:policyTypes',
  V1ServiceBackendPort: '1:name? 2:number?',
  // discovery/v1
  DiscoveryV1EndpointPort: '1:name 2:protocol 3:port 4:appProtocol',
  V1Endpoint:
    '1:addresses 2:conditions 3:hostname 4:targetRef 5:deprecatedTopology 6:nodeName 7:zone 8:hints',
  V1EndpointConditions: '1:ready 2:serving 3:terminating',
  V1EndpointHints: '1:forZones',
  V1EndpointSlice: '1:metadata 2:endpoints 3:ports 4:addressType',
  V1ForZone: '1:name',
};
