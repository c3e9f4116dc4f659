/** Services, and host names whose paths lead to Services. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import type { Fields } from './fields.ts';
import { asName } from './workflows.ts';

/** The API server's default range of ports for Services of the type NodePort. */
const nodePorts = { first: 30_000, last: 32_767 };

/**
 * Converts the spec of a Service. A missing type follows from the ports, and each of several ports gets a
 * name.
 */
export function service(spec: Fields): JsonObject {
  const address = spec.text('clusterIP') || undefined;
  if (address !== undefined && address !== 'None')
    spec.note('clusterIP', 'left out: the cluster assigns an address', 'usual');
  const [ports, type, selector] = [portsOf(spec), spec.text('type'), spec.take('selector')];
  const isNodePort = type === undefined && ports?.some(({ nodePort }) => nodePort !== undefined);
  if (isNodePort) spec.note('type', 'added: NodePort, because a port has a nodePort');
  const isInside = type?.toLowerCase() === 'clusterip';
  return {
    ...(address === 'None' && { clusterIP: 'None' }),
    ...(type !== undefined && { type }),
    ...(isNodePort && { type: 'NodePort' }),
    ...(selector !== undefined && { selector: labelsOf(selector) }),
    ...spec.others(),
    ...(ports && {
      ports: ports.map(({ port, nodePort }) => ({ ...port, ...nodePortOf(nodePort, isInside) })),
    }),
  };
}

const labelsOf = (selector: unknown) =>
  isRecord(selector) && isRecord(selector.matchLabels) ? selector.matchLabels : selector;

interface Port {
  readonly port: JsonObject;
  readonly nodePort: NodePort | undefined;
}

interface NodePort {
  readonly value: unknown;
  leaveOut(why: string): JsonObject;
}

function portsOf(spec: Fields): Port[] | undefined {
  if (!spec.has('ports')) return undefined;
  const ports = spec.items('ports');
  return ports.map((fields) => {
    const [given, number, protocol] = [fields.text('name'), fields.take('port'), fields.take('protocol')];
    const value = fields.take('nodePort');
    const name = portName(
      fields,
      given,
      `${String(protocol ?? 'tcp').toLowerCase()}-${number}`,
      ports.length,
    );
    const leaveOut = (why: string) => {
      fields.note('nodePort', `left out: ${why}`, 'usual');
      return {};
    };
    return {
      port: {
        ...(name !== undefined && { name }),
        ...(protocol !== undefined && { protocol }),
        ...(number !== undefined && { port: number }),
        ...fields.others(),
      },
      nodePort: value === undefined || Number(value) === 0 ? undefined : { value, leaveOut },
    };
  });
}

/** Returns the name of one of `count` ports; undefined if it needs none. */
function portName(
  fields: Fields,
  given: string | undefined,
  made: string,
  count: number,
): string | undefined {
  if (given === undefined) {
    if (count <= 1) return undefined;
    fields.note('name', `added: ${made}, because each of several ports needs one`, 'usual');
    return made;
  }
  const name = asName(given);
  if (given !== name) fields.note('name', `${given} becomes ${name}`, 'usual');
  return name;
}

function nodePortOf(nodePort: NodePort | undefined, isInside: boolean): JsonObject {
  if (!nodePort) return {};
  const { value, leaveOut } = nodePort;
  if (isInside) return leaveOut('a Service of the type ClusterIP has no node ports');
  const number = Number(value);
  if (Number.isInteger(number) && (number < nodePorts.first || number > nodePorts.last))
    return leaveOut(
      `${number} is not one of ${nodePorts.first}-${nodePorts.last}, from which the cluster chooses a port`,
    );
  return { nodePort: value };
}

/**
 * Converts the spec of a Dns object; three words each are accepted for the path, the Service and its port.
 */
export function dns(spec: Fields): JsonObject {
  return {
    host: spec.text('host', 'hostname'),
    paths: spec.items('paths').map((path) => {
      const name = path.text('serviceName', 'svcName', 'service');
      const port = path.take('servicePort', 'svcPort', 'port');
      return {
        path: path.text('path', 'urlPath', 'subPath') ?? '/',
        ...(name !== undefined && { serviceName: asName(name) }),
        ...(port !== undefined && { servicePort: Number.isNaN(Number(port)) ? port : Number(port) }),
      };
    }),
  };
}
