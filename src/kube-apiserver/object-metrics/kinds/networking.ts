/** Ingresses and NetworkPolicies. */
import { type Ingress, ingressResource } from '../../../api/networking/v1/ingress.ts';
import { type NetworkPolicy, networkPolicyResource } from '../../../api/networking/v1/network-policy.ts';
import type { HTTPIngressPath } from '../../../api/networking/v1/types.gen.ts';
import type { Labels } from '../../../base/metrics/exposition.ts';
import { fact, gauge, gauges, info, objectMetrics } from '../family.ts';
import { created, namespaced, resourceVersion } from '../metadata-families.ts';

/** Annotation that had the class before the field existed. */
const classAnnotation = 'kubernetes.io/ingress.class';

function backendLabels({ backend: { service, resource } }: HTTPIngressPath): Labels {
  if (service) return { service_name: service.name, service_port: String(service.port?.number ?? 0) };
  return {
    resource_api_group: resource?.apiGroup ?? '',
    resource_kind: resource?.kind ?? '',
    resource_name: resource?.name ?? '',
  };
}

export const ingresses = objectMetrics<Ingress>({
  ref: ingressResource,
  labelsOf: namespaced('ingress'),
  families: [
    info('kube_ingress_info', 'The class of the Ingress.', ({ metadata, spec }) => ({
      ingressclass: metadata.annotations?.[classAnnotation] ?? spec?.ingressClassName ?? '_default',
    })),
    created('kube_ingress'),
    resourceVersion('kube_ingress'),
    gauges('kube_ingress_path', 'Backend Services of the paths of each host.', ({ spec }) =>
      (spec?.rules ?? []).flatMap(({ host, http }) =>
        (http?.paths ?? []).map((path) =>
          fact({
            host: host ?? '',
            path: path.path ?? '',
            path_type: path.pathType ?? '',
            ...backendLabels(path),
          }),
        ),
      ),
    ),
    gauges('kube_ingress_tls', 'The Secrets with the certificates of hosts.', ({ spec }) =>
      (spec?.tls ?? []).flatMap(({ hosts = [], secretName }) =>
        hosts.map((host) => fact({ tls_host: host, secret: secretName ?? '' })),
      ),
    ),
  ],
});

export const networkPolicies = objectMetrics<NetworkPolicy>({
  ref: networkPolicyResource,
  labelsOf: namespaced('networkpolicy'),
  families: [
    created('kube_networkpolicy'),
    gauge(
      'kube_networkpolicy_spec_ingress_rules',
      'Number of ingress rules.',
      ({ spec }) => spec?.ingress?.length ?? 0,
    ),
    gauge(
      'kube_networkpolicy_spec_egress_rules',
      'Number of egress rules.',
      ({ spec }) => spec?.egress?.length ?? 0,
    ),
  ],
});
