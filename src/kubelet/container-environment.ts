/** Everything a container's environment is made of, fetched. */
import { type ConfigMap, configMapResource } from '../api/core/v1/config-map.ts';
import type { Pod } from '../api/core/v1/pod.ts';
import { containerReferences } from '../api/core/v1/pod-references.ts';
import { type Secret, secretResource } from '../api/core/v1/secret.ts';
import type { Container } from '../api/core/v1/types.gen.ts';
import { isNotFound } from '../apimachinery/status-error.ts';
import type { Client } from '../client/client.ts';
import type { KnownServices } from './known-services.ts';
import { type ConfigSources, resolveEnv } from './plan/env.ts';
import { serviceVariables } from './plan/service-variables.ts';

export interface EnvironmentContext {
  readonly client: Client;
  readonly nodeIP: string;
  /** What pods may have of this node. */
  readonly allocatable: Readonly<Record<string, string>>;
  readonly services: KnownServices;
}

/** By name. Throws ContainerConfigError; rejects when the signal aborts while the Services are still unknown. */
export async function containerEnvironment(
  { client, nodeIP, allocatable, services }: EnvironmentContext,
  pod: Pod,
  container: Container,
  podIP: string | undefined,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const [sources, known] = await Promise.all([fetchSources(client, pod, container), services.list(signal)]);
  const { namespace = '' } = pod.metadata;
  const { enableServiceLinks = true } = pod.spec;
  const facts = {
    podIP: podIP ?? nodeIP,
    hostIP: nodeIP,
    allocatable,
    serviceVariables: serviceVariables(known, namespace, enableServiceLinks),
  };
  return resolveEnv(pod, container, facts, sources);
}

async function fetchSources(client: Client, pod: Pod, container: Container): Promise<ConfigSources> {
  const names = containerReferences(container);
  const { namespace = '' } = pod.metadata;
  const [configMaps, secrets] = await Promise.all([
    fetchAll<ConfigMap>(names.configMaps, (name) => client.resource(configMapResource).get(name, namespace)),
    fetchAll<Secret>(names.secrets, (name) => client.resource(secretResource).get(name, namespace)),
  ]);
  return { configMaps, secrets };
}

async function fetchAll<T>(
  names: ReadonlySet<string>,
  get: (name: string) => Promise<T>,
): Promise<ReadonlyMap<string, T>> {
  const found = new Map<string, T>();
  for (const name of names) {
    try {
      found.set(name, await get(name));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return found;
}
