/** The Service that `ctl expose` makes for an object. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Flags } from '../flags/flags.ts';
import { numberAt, recordAt, recordsAt, textAt, valueAt } from '../objects/objects.ts';
import { newMetadata } from './generator.ts';

/** Kinds with pods behind them, by `Kind` or `Kind.group`. */
const exposable: ReadonlySet<string> = new Set([
  ...['Pod', 'Service', 'ReplicationController', 'Deployment.apps', 'ReplicaSet.apps'],
]);

export interface ExposedObject {
  readonly object: JsonObject;
  readonly kind: string;
  readonly group: string;
  readonly name: string;
}

/** Maximum length of the name of a Service. */
const maxNameLength = 63;

/**
 * Returns the Service for an object. Throws an Error for an object that has no pods, no ports or no selector,
 * and UsageError for bad flags.
 */
export function serviceFor(exposed: ExposedObject, flags: Flags): JsonObject {
  const kind = exposed.group ? `${exposed.kind}.${exposed.group}` : exposed.kind;
  if (!exposable.has(kind)) throw new Error(`cannot expose a ${kind}`);
  const ports = portsOf(exposed, flags);
  if (ports.length === 0 && flags.text('cluster-ip') !== 'None')
    throw new Error("couldn't find port via --port flag or introspection; give one with --port=PORT");
  const labels = labelsOf(exposed, flags.text('labels'));
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: newMetadata(
      flags.text('name') || exposed.name.slice(0, maxNameLength),
      Object.keys(labels).length > 0 ? { labels } : {},
    ),
    spec: {
      ...(ports.length > 0 && { ports }),
      selector: selectorOf(exposed, flags.text('selector')),
      ...addressesOf(flags),
    },
    status: { loadBalancer: {} },
  };
}

const labelsOf = ({ object }: ExposedObject, given: string | undefined): JsonObject =>
  given ? pairsOf(given) : sorted(recordAt(object, 'metadata', 'labels'));

/** Returns the fields of the addresses and of the type. */
function addressesOf(flags: Flags): JsonObject {
  const [type, clusterIP] = [flags.text('type'), flags.text('cluster-ip')];
  const [externalIP, address] = [flags.text('external-ip'), flags.text('load-balancer-ip')];
  const affinity = flags.oneOf('session-affinity', ['None', 'ClientIP'] as const);
  return {
    ...(clusterIP && { clusterIP }),
    ...(type && { type }),
    ...(externalIP && { externalIPs: [externalIP] }),
    ...(affinity && { sessionAffinity: affinity }),
    ...(type === 'LoadBalancer' && address && { loadBalancerIP: address }),
  };
}

const sorted = (labels: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Reads `a=b,c=d`. Throws UsageError. */
function pairsOf(text: string): JsonObject {
  const pairs = text.split(',').map((pair) => {
    const [key = '', value, ...more] = pair.split('=');
    if (!key || value === undefined || more.length > 0)
      throw new UsageError(`unexpected label spec: ${pair}; write KEY=VALUE, separated by commas`);
    return [key, value] as const;
  });
  return sorted(Object.fromEntries(pairs));
}

function selectorOf({ object, kind }: ExposedObject, given: string | undefined): JsonObject {
  if (given) return pairsOf(given);
  const own = ownSelector(object, kind);
  if (Object.keys(own).length === 0)
    throw new Error(`couldn't retrieve selectors via --selector flag or introspection: the ${kind} has none`);
  return sorted(own);
}

function ownSelector(object: JsonObject, kind: string): JsonObject {
  if (kind === 'Pod') return recordAt(object, 'metadata', 'labels');
  if (kind === 'Service' || kind === 'ReplicationController') return recordAt(object, 'spec', 'selector');
  if (valueAt(object, 'spec', 'selector', 'matchExpressions') !== undefined)
    throw new Error(
      "couldn't convert expressions of the object's selector to the map of a Service; use --selector",
    );
  return recordAt(object, 'spec', 'selector', 'matchLabels');
}

/** Returns the ports of the object's containers or of the Service, with all their protocols. */
function protocolsOf({ object, kind }: ExposedObject): ReadonlyMap<string, readonly string[]> {
  const template = kind === 'Pod' ? object : recordAt(object, 'spec', 'template');
  const found =
    kind === 'Service'
      ? recordsAt(object, 'spec', 'ports').map((port) => [numberAt(port, 'port'), port] as const)
      : recordsAt(template, 'spec', 'containers')
          .flatMap((container) => recordsAt(container, 'ports'))
          .map((port) => [numberAt(port, 'containerPort'), port] as const);
  const protocols = new Map<string, string[]>();
  for (const [number, port] of found) {
    const protocol = textAt(port, 'protocol') || 'TCP';
    const known = protocols.get(String(number)) ?? [];
    if (!known.includes(protocol)) protocols.set(String(number), [...known, protocol]);
  }
  return protocols;
}

function portsOf(exposed: ExposedObject, flags: Flags): JsonObject[] {
  const protocols = protocolsOf(exposed);
  const given = flags.text('port');
  const numbers = given ? given.split(',') : [...protocols.keys()];
  const target = flags.text('target-port');
  return numbers.flatMap((text, index) => {
    if (!/^\d{1,5}$/.test(text))
      throw new UsageError(`--port: expected a port number, got ${JSON.stringify(text)}`);
    const port = Number(text);
    const chosen = flags.text('protocol') || undefined;
    const all = chosen ? [chosen] : (protocols.get(text) ?? ['TCP']);
    return all.map((protocol) => {
      const name = nameOf(index, numbers.length, all.length > 1 ? protocol : undefined);
      return { ...(name && { name }), protocol, port, targetPort: target ? targetPort(target) : port };
    });
  });
}

/** Returns the name of a port; a Service with a single port needs none. */
function nameOf(index: number, count: number, protocol: string | undefined): string | undefined {
  if (protocol) return `port-${index + 1}-${protocol.toLowerCase()}`;
  return count > 1 ? `port-${index + 1}` : undefined;
}

const targetPort = (text: string): number | string => (/^-?\d+$/.test(text) ? Number(text) : text);
