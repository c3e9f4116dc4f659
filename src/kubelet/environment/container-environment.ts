/** Reads all sources of a container's environment. */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { containerReferences } from '../../api/core/v1/pod/references.ts';
import type { Container } from '../../api/core/v1/types.gen.ts';
import { nodeAddresses, podAddresses, type SecondAddresses } from '../runtime/pod-network.ts';
import type { KnownServices } from './known-services.ts';
import { type ConfigSources, resolveEnv } from './plan/env.ts';
import { serviceVariables } from './plan/service-variables.ts';
import type { PodSources } from './pod-sources.ts';

export interface EnvironmentContext {
  readonly sources: Pick<PodSources, 'configMap' | 'secret'>;
  readonly nodeIP: string;
  /** Absent where nodes and pods have no addresses of IPv6. */
  readonly second?: SecondAddresses | undefined;
  /** Allocatable resources of this node. */
  readonly allocatable: Readonly<Record<string, string>>;
  readonly services: KnownServices;
}

/**
 * Returns the variables by name. Throws ContainerConfigError; rejects when the signal aborts while the
 * Services are still unknown.
 */
export async function containerEnvironment(
  { sources: known, nodeIP, second, allocatable, services }: EnvironmentContext,
  pod: Pod,
  container: Container,
  podIP: string | undefined,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const [sources, listed] = await Promise.all([readSources(known, pod, container), services.list(signal)]);
  const { namespace = '' } = pod.metadata;
  const { enableServiceLinks = true } = pod.spec;
  const hostIPs = nodeAddresses(nodeIP, second);
  const facts = {
    podIPs: podIP === undefined ? hostIPs : podAddresses(podIP, second),
    hostIPs,
    allocatable,
    serviceVariables: serviceVariables(listed, namespace, enableServiceLinks),
  };
  return resolveEnv(pod, container, facts, sources);
}

async function readSources(
  sources: EnvironmentContext['sources'],
  pod: Pod,
  container: Container,
): Promise<ConfigSources> {
  const names = containerReferences(container);
  const { namespace = '' } = pod.metadata;
  const [configMaps, secrets] = await Promise.all([
    readAll(names.configMaps, (name) => sources.configMap(namespace, name)),
    readAll(names.secrets, (name) => sources.secret(namespace, name)),
  ]);
  return { configMaps, secrets };
}

/** Returns the existing objects, by name. */
export async function readAll<T>(
  names: ReadonlySet<string>,
  read: (name: string) => Promise<T | undefined>,
): Promise<ReadonlyMap<string, T>> {
  const found = await Promise.all([...names].map(async (name) => [name, await read(name)] as const));
  return new Map(found.flatMap(([name, object]) => (object === undefined ? [] : [[name, object] as const])));
}
