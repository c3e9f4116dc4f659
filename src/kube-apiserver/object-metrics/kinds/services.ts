/** Services. */
import { type Service, serviceResource } from '../../../api/core/v1/service/service.ts';
import { fact, gauges, info, objectMetrics } from '../family.ts';
import { created, deletionTimestamp, namespaced } from '../metadata-families.ts';

const serviceName = namespaced('service');

export const services = objectMetrics<Service>({
  ref: serviceResource,
  labelsOf: (service) => ({ ...serviceName(service), uid: service.metadata.uid }),
  families: [
    info('kube_service_info', 'The address of the Service.', ({ spec }) => ({
      cluster_ip: spec.clusterIP ?? '',
      external_name: spec.externalName ?? '',
      load_balancer_ip: spec.loadBalancerIP ?? '',
      external_traffic_policy: spec.externalTrafficPolicy ?? '',
    })),
    created('kube_service'),
    deletionTimestamp('kube_service'),
    info('kube_service_spec_type', 'The type of the Service.', ({ spec }) => ({ type: spec.type })),
    gauges('kube_service_spec_external_ip', 'External IP addresses of the Service.', ({ spec }) =>
      (spec.externalIPs ?? []).map((address) => fact({ external_ip: address })),
    ),
    gauges(
      'kube_service_status_load_balancer_ingress',
      'Addresses of the load balancer of the Service.',
      ({ status }) =>
        (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) =>
          fact({ ip: ip ?? '', hostname: hostname ?? '' }),
        ),
    ),
  ],
});
