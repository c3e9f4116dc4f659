/** The local ports that `ctl port-forward` opens, and the pod's ports to which they lead. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import { metadataOf, numberAt, recordsAt, textAt, valueAt } from '../objects/objects.ts';

export interface ForwardedPort {
  /** Port of this machine; 0 for any free port. */
  readonly local: number;
  /** Port of the pod. */
  readonly remote: number;
}

/**
 * Reads the forms `PORT`, `LOCAL:REMOTE` and `:REMOTE`; REMOTE may be a name. For a Service it is a port of
 * the Service, otherwise a port of the pod. Throws UsageError for another form, and an Error for a name or a
 * port that does not exist.
 */
export function planPorts(specs: readonly string[], pod: JsonObject, service?: JsonObject): ForwardedPort[] {
  return specs.map((spec) => planPort(spec, pod, service));
}

function planPort(spec: string, pod: JsonObject, service: JsonObject | undefined): ForwardedPort {
  const [first = '', second, ...more] = spec.split(':');
  if (more.length > 0)
    throw new UsageError(`invalid port format '${spec}': say PORT, LOCAL:REMOTE or :REMOTE`);
  const word = second ?? first;
  const remote = service ? portBehind(service, word, pod) : podPort(pod, word);
  if (second !== undefined) return { local: first === '' ? 0 : number(first, 'local'), remote };
  if (isNumber(first)) return { local: number(first, 'local'), remote };
  // A name alone becomes the local port with the number of the named port.
  return { local: service ? Number(servicePort(service, first)?.port) : remote, remote };
}

const isNumber = (word: string) => /^\d+$/.test(word);

function number(word: string, which: 'local' | 'remote'): number {
  const port = isNumber(word) ? Number(word) : Number.NaN;
  if (!(port <= 0xffff)) {
    throw new UsageError(`error parsing ${which} port '${word}': expected a number up to 65535`);
  }
  if (port === 0 && which === 'remote') throw new UsageError('remote port must be > 0');
  return port;
}

function podPort(pod: JsonObject, word: string): number {
  if (isNumber(word) || !/^[a-z0-9-]+$/.test(word)) return number(word, 'remote');
  const found = namedPort(pod, word);
  if (found === undefined) {
    throw new Error(`Pod '${metadataOf(pod).name}' does not have a named port '${word}'`);
  }
  return found;
}

function namedPort(pod: JsonObject, name: string): number | undefined {
  const ports = ['containers', 'initContainers'].flatMap((field) =>
    recordsAt(pod, 'spec', field).flatMap((container) => recordsAt(container, 'ports')),
  );
  const found = ports.find((port) => port.name === name);
  return found && numberAt(found, 'containerPort');
}

const servicePort = (service: JsonObject, word: string): JsonObject | undefined =>
  recordsAt(service, 'spec', 'ports').find((port) =>
    isNumber(word) ? port.port === Number(word) : port.name === word,
  );

function portBehind(service: JsonObject, word: string, pod: JsonObject): number {
  const { name } = metadataOf(service);
  const port = servicePort(service, word);
  if (!port && isNumber(word)) throw new Error(`Service ${name} does not have a service port ${word}`);
  if (!port) throw new Error(`Service '${name}' does not have a named port '${word}'`);
  // The ports of a headless Service are not translated.
  if (textAt(service, 'spec', 'clusterIP') === 'None') return numberAt(port, 'port');
  const target = valueAt(port, 'targetPort');
  if (typeof target === 'string' && target !== '') {
    const found = namedPort(pod, target);
    if (found !== undefined) return found;
    throw new Error(`Pod '${metadataOf(pod).name}' does not have a named port '${target}'`);
  }
  return typeof target === 'number' && target > 0 ? target : numberAt(port, 'port');
}

/**
 * Returns groups of addresses to listen on; at least one address of each group must succeed. Throws
 * UsageError.
 */
export function planAddresses(
  words: readonly string[],
  isAddress: (word: string) => boolean,
): (readonly string[])[] {
  const wanted = words.length === 0 ? ['localhost'] : words;
  return [...new Set(wanted)].map((word) => {
    if (word === 'localhost') return ['127.0.0.1', '::1'];
    if (!isAddress(word)) throw new UsageError(`--address: ${word} is not a valid IP`);
    return [word];
  });
}

/** Returns an address and port such as `127.0.0.1:80` or `[::1]:80`. */
export const hostPort = (address: string, port: number) =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
