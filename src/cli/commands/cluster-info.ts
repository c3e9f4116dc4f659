/** `ctl cluster-info`: prints the addresses of the control plane and of the cluster's own Services. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, numberAt, recordsAt, textAt } from '../objects/objects.ts';
import type { Verb } from '../verb.ts';
import { clusterInfoDump } from './cluster-info-dump.ts';

export const clusterInfo: Verb = {
  about: 'print the addresses of the control plane and of cluster services',
  group: 'Cluster Management Commands',
  examples: ['ctl cluster-info # see where the API server is'],
  inner: { dump: clusterInfoDump },
  async run(context) {
    const { io } = context;
    const cluster = context.cluster();
    const server = cluster.server ?? '';
    const services = await cluster.get(
      '/api/v1/services?labelSelector=kubernetes.io%2Fcluster-service%3Dtrue',
    );
    io.out(`Kubernetes control plane is running at ${server}\n`);
    for (const service of recordsAt(services, 'items')) {
      const { name, labels } = metadataOf(service);
      io.out(`${labels['kubernetes.io/name'] || name} is running at ${addressOf(service, server)}\n`);
    }
    io.out("\nTo further debug and diagnose cluster problems, use 'minik8s support-bundle'.\n");
  },
};

/** Returns the addresses of the load balancer, or else the path through the API server's proxy. */
function addressOf(service: JsonObject, server: string): string {
  const { name, namespace } = metadataOf(service);
  const ports = recordsAt(service, 'spec', 'ports');
  const [ingress] = recordsAt(service, 'status', 'loadBalancer', 'ingress');
  if (ingress) {
    const host = textAt(ingress, 'ip') || textAt(ingress, 'hostname');
    return ports.map((port) => `http://${host}:${numberAt(port, 'port')} `).join('');
  }
  const [port] = ports;
  const portName = port ? textAt(port, 'name') : '';
  const isHttps = port !== undefined && (portName === 'https' || numberAt(port, 'port') === 443);
  const target = isHttps ? `https:${name}:${portName}` : portName ? `${name}:${portName}` : name;
  return `${server}/api/v1/namespaces/${namespace}/services/${target}/proxy`;
}
