/** Warnings for duplicate ports of a pod's containers. The texts are upstream's. */
import type { Container, ContainerPort } from '../types.gen.ts';

interface Named {
  readonly port: ContainerPort;
  readonly path: string;
}

/** Maximum number of warnings: a response has no room for more. */
const maxWarnings = 64;
/** Maximum number of definitions of one port that are compared with each other. */
const maxCompared = 500;

type Paths = readonly { readonly container: Container; readonly path: string }[];

/** Returns the warnings; `containers` are the containers with their paths. */
export function portWarnings(containers: Paths): string[] {
  const seen = new Map<string, Named[]>();
  const warnings: string[] = [];
  for (const one of portsOf(containers)) {
    if (warnings.length >= maxWarnings) break;
    const key = `${one.port.containerPort}/${one.port.protocol}`;
    const others = seen.get(key) ?? [];
    warnings.push(...warningsOf(one, others).slice(0, maxWarnings - warnings.length));
    if (others.length < maxCompared) seen.set(key, [...others, one]);
  }
  return warnings;
}

const portsOf = (containers: Paths): Named[] =>
  containers.flatMap(({ container, path }) =>
    (container.ports ?? []).map((port, index) => ({ port, path: `${path}.ports[${index}]` })),
  );

function warningsOf({ port, path }: Named, others: readonly Named[]): string[] {
  const clashes = others.flatMap((other) => clash(port, path, other));
  return port.hostIP && !port.hostPort
    ? [`${path}: hostIP set without hostPort: ${inGo(port)}`, ...clashes]
    : clashes;
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
