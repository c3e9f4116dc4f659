/** Warnings for duplicate ports of a pod's containers. The texts are upstream's. */
import type { Container, ContainerPort } from '../types.gen.ts';

interface Named {
  readonly port: ContainerPort;
  readonly path: string;
}

/**
 * Maximum number of warnings, since a response has no room for more; and of compared definitions of one port.
 */
const most = 64;
const maxCompared = 500;

/** Returns the warnings; `containers` are the containers with their paths. */
export function portWarnings(
  containers: readonly { readonly container: Container; readonly path: string }[],
): string[] {
  const seen = new Map<string, Named[]>();
  const told: string[] = [];
  const named = containers.flatMap(({ container, path }) =>
    (container.ports ?? []).map((port, index) => ({ port, path: `${path}.ports[${index}]` })),
  );
  for (const one of named) {
    if (told.length >= most) break;
    const { port, path } = one;
    const key = `${port.containerPort}/${port.protocol}`;
    const others = seen.get(key) ?? [];
    if (port.hostIP && !port.hostPort) told.push(`${path}: hostIP set without hostPort: ${inGo(port)}`);
    for (const other of others) if (told.length < most) told.push(...clash(port, path, other));
    if (others.length < maxCompared) seen.set(key, [...others, one]);
  }
  return told;
}

function clash(port: ContainerPort, path: string, { port: other, path: at }: Named): string[] {
  const [ip, otherIp] = [port.hostIP ?? '', other.hostIP ?? ''];
  const [host, otherHost] = [port.hostPort ?? 0, other.hostPort ?? 0];
  if (ip === otherIp && host === otherHost) return [`${path}: duplicate port definition with ${at}`];
  if (host === 0 || otherHost === 0) return [`${path}: overlapping port definition with ${at}`];
  return host === otherHost && (ip === '') !== (otherIp === '')
    ? [`${path}: dangerously ambiguous port definition with ${at}`]
    : [];
}

/** Formats a port as Go prints a value with field names. */
const inGo = ({ name = '', hostPort = 0, containerPort, protocol, hostIP = '' }: ContainerPort) =>
  `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
