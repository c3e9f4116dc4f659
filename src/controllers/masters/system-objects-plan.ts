/** What has to be done so that the Service of the API is as clients and certificates expect it. Pure. */
import type { Service } from '../../api/core/v1/service.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { type Draft, isTerminating } from '../../apimachinery/meta.ts';

export type ServicePlan =
  | { readonly type: 'none' }
  | { readonly type: 'create' }
  /** Its clusterIP is immutable: the Service must be deleted and created again. */
  | { readonly type: 'remove'; readonly uid: string }
  | { readonly type: 'update'; readonly service: Service };

const none: ServicePlan = { type: 'none' };

/**
 * Address, ports and the want of a selector are put right; what people add (labels, node ports, a session affinity)
 * stays. `targetPort` is what the first master wrote: endpoints are not made from it, and masters differ.
 */
export function planService(wanted: Draft<Service>, existing: Service | undefined): ServicePlan {
  if (!existing) return { type: 'create' };
  // The deletion arrives as an event; then the Service is created again.
  if (isTerminating(existing)) return none;
  const { spec } = existing;
  const { clusterIP, ports = [] } = wanted.spec;
  const hasAddress = spec.type !== 'ExternalName' && !!spec.clusterIP;
  if (hasAddress && spec.clusterIP !== clusterIP) return { type: 'remove', uid: existing.metadata.uid };
  const selected = Object.keys(spec.selector ?? {}).length > 0;
  if (hasAddress && !selected && deepEqual(clientPorts(spec), clientPorts(wanted.spec))) return none;
  const { selector: _, externalName: __, ...rest } = spec;
  const kept = { ...rest, ports: ports.map((port) => ({ ...port, ...nodePortOf(spec, port.port) })) };
  const addressed = hasAddress
    ? kept
    : { ...kept, type: 'ClusterIP' as const, clusterIP, clusterIPs: clusterIP ? [clusterIP] : [] };
  return { type: 'update', service: { ...existing, spec: addressed } };
}

type Spec = Service['spec'];

/** What a client of the Service sees of its ports. */
const clientPorts = ({ ports = [] }: Spec) =>
  ports.map(({ name, port, protocol }) => ({ name, port, protocol }));

function nodePortOf({ ports = [] }: Spec, port: number) {
  const nodePort = ports.find((one) => one.port === port)?.nodePort;
  return nodePort === undefined ? {} : { nodePort };
}
