/** What a pod asks for and what nodes have, as numbers. Pure. */
import type { Node } from '../api/core/v1/node.ts';
import type { Pod } from '../api/core/v1/pod.ts';
import type { Container } from '../api/core/v1/pod-spec.ts';
import { quantityMilliValue, quantityValue, tryParseQuantity } from '../apimachinery/quantity.ts';
import type { HostPort, PodInfo, Resources } from './framework.ts';

/** What a container that names no request counts with in scores (upstream's DefaultMilliCPURequest and so on). */
const typicalRequest = { cpu: 100, memory: 200 * 1024 * 1024 } as const;

/** Thousandths for cpu, whole units for everything else; what is not a quantity counts as nothing. */
function amounts(quantities: Readonly<Record<string, string>> | undefined): Map<string, number> {
  const result = new Map<string, number>();
  for (const [name, text] of Object.entries(quantities ?? {})) {
    const quantity = tryParseQuantity(text);
    if (quantity) result.set(name, name === 'cpu' ? quantityMilliValue(quantity) : quantityValue(quantity));
  }
  return result;
}

/** The sum of the containers' requests, or of the largest init container's where that is more. */
function podRequests(pod: Pod): Map<string, number> {
  const total = new Map<string, number>();
  for (const container of pod.spec.containers)
    for (const [name, amount] of containerRequests(container))
      total.set(name, (total.get(name) ?? 0) + amount);
  const { initContainers = [] } = pod.spec as { initContainers?: Container[] };
  for (const container of initContainers)
    for (const [name, amount] of containerRequests(container))
      total.set(name, Math.max(total.get(name) ?? 0, amount));
  return total;
}

/** A limit without a request is the request, as the API's defaulting has it. */
function containerRequests(container: Container): Map<string, number> {
  return new Map([...amounts(container.resources?.limits), ...amounts(container.resources?.requests)]);
}

function hostPorts(pod: Pod): HostPort[] {
  const { hostNetwork } = pod.spec;
  return pod.spec.containers.flatMap((container) =>
    (container.ports ?? []).flatMap(({ hostPort, containerPort, hostIP, protocol }) => {
      const port = hostPort ?? (hostNetwork ? containerPort : 0);
      return port > 0 ? [{ ip: hostIP || '0.0.0.0', protocol, port }] : [];
    }),
  );
}

export function podInfo(pod: Pod): PodInfo {
  const requests = podRequests(pod);
  const weighed = new Map(requests);
  for (const [name, typical] of Object.entries(typicalRequest))
    if (!weighed.get(name)) weighed.set(name, typical * pod.spec.containers.length);
  return { pod, requests, weighed, hostPorts: hostPorts(pod) };
}

export const allocatable = (node: Node): Resources =>
  amounts(node.status?.allocatable ?? node.status?.capacity);
