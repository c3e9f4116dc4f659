/** Plans the restoration of the API's Service to the form that clients and certificates expect. Pure. */
import type { Service } from '../../api/core/v1/service/service.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { type Draft, isTerminating } from '../../apimachinery/meta.ts';

export type ServicePlan =
  | { readonly type: 'none' }
  | { readonly type: 'create' }
  /** The clusterIP is immutable, so the Service must be deleted and created again. */
  | { readonly type: 'remove'; readonly uid: string }
  /** `isRestored` is false if the Service only gets the range of IPv6. */
  | { readonly type: 'update'; readonly service: Service; readonly isRestored: boolean };

const none: ServicePlan = { type: 'none' };

/**
 * Plans the Service. Address and ports are restored and a selector is removed; additions of users (labels,
 * node ports, a session affinity) are kept. `targetPort` keeps the value of the first master: it does not
 * determine the endpoints, and masters differ. The range of IPv6 is added if the Service has none: masters
 * with other ranges do not undo each other's writes.
 */
export function planService(wanted: Draft<Service>, existing: Service | undefined): ServicePlan {
  if (!existing) return { type: 'create' };
  // The deletion arrives as an event; the Service is created again then.
  if (isTerminating(existing)) return none;
  const { spec } = existing;
  const hasAddress = spec.type !== 'ExternalName' && !!spec.clusterIP;
  if (hasAddress && spec.clusterIP !== wanted.spec.clusterIP)
    return { type: 'remove', uid: existing.metadata.uid };
  const isAsWanted = hasAddress && isAsClientsExpect(wanted.spec, spec);
  const metadata = withRange(wanted, existing.metadata);
  if (isAsWanted && metadata === existing.metadata) return none;
  const next = isAsWanted ? spec : restored(wanted.spec, spec, hasAddress);
  return { type: 'update', service: { ...existing, metadata, spec: next }, isRestored: !isAsWanted };
}

const isAsClientsExpect = (wanted: Draft<Service>['spec'], spec: Spec): boolean =>
  Object.keys(spec.selector ?? {}).length === 0 && deepEqual(clientPorts(spec), clientPorts(wanted));

/** Returns the metadata with the annotations that it lacks; the same object if it lacks none. */
function withRange(wanted: Draft<Service>, metadata: Service['metadata']): Service['metadata'] {
  const annotations = { ...wanted.metadata.annotations, ...metadata.annotations };
  return deepEqual(annotations, metadata.annotations ?? {}) ? metadata : { ...metadata, annotations };
}

type Spec = Service['spec'];

function restored({ clusterIP, ports = [] }: Draft<Service>['spec'], spec: Spec, hasAddress: boolean): Spec {
  const { selector: _, externalName: __, ...rest } = spec;
  const kept = { ...rest, ports: ports.map((port) => ({ ...port, ...nodePortOf(spec, port.port) })) };
  return hasAddress
    ? kept
    : { ...kept, type: 'ClusterIP' as const, clusterIP, clusterIPs: clusterIP ? [clusterIP] : [] };
}

/** Returns the part of the ports that is visible to clients of the Service. */
const clientPorts = ({ ports = [] }: Spec) =>
  ports.map(({ name, port, protocol }) => ({ name, port, protocol }));

function nodePortOf({ ports = [] }: Spec, port: number) {
  const nodePort = ports.find((one) => one.port === port)?.nodePort;
  return nodePort === undefined ? {} : { nodePort };
}
