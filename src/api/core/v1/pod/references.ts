/** The ConfigMaps, Secrets and claims of a pod's own namespace that the pod requires. */
import { isRecord } from '../../../../apimachinery/equality.ts';
import type { Container, Pod } from '../types.gen.ts';
import { claimNamesOf } from './claims.ts';

/** Names of the objects. */
export interface References {
  readonly configMaps: ReadonlySet<string>;
  readonly secrets: ReadonlySet<string>;
}

/** Returns the references of the container's environment. */
export function containerReferences(container: Container): References {
  const configMaps = new Set<string>();
  const secrets = new Set<string>();
  for (const { configMapRef, secretRef } of container.envFrom ?? []) {
    addName(configMaps, configMapRef);
    addName(secrets, secretRef);
  }
  for (const { valueFrom } of container.env ?? []) {
    addName(configMaps, valueFrom?.configMapKeyRef);
    addName(secrets, valueFrom?.secretKeyRef);
  }
  return { configMaps, secrets };
}

function addName(names: Set<string>, reference: { readonly name: string } | undefined): void {
  if (reference) names.add(reference.name);
}

/** References of a pod, including the claims of its volumes. */
export interface PodReferences extends References {
  readonly claims: ReadonlySet<string>;
}

/**
 * Returns the references of all containers, volumes and image pulls, including fields that minik8s does not
 * act on.
 */
export function podReferences(pod: Pod): PodReferences {
  const { claims, configMaps, secrets } = sourceReferences(pod);
  const { imagePullSecrets } = pod.spec as unknown as Fields;
  return {
    claims,
    configMaps,
    secrets: new Set([...secrets, ...names(records(imagePullSecrets).map(({ name }) => name))]),
  };
}

/** Returns the references of environments and volumes. */
export function sourceReferences(pod: Pod): PodReferences {
  const { spec } = pod;
  const lists = spec as unknown as Readonly<Record<string, unknown>>;
  const containers = ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) =>
    records(lists[field]),
  ) as unknown as readonly Container[];
  const found = containers.map(containerReferences);
  const volumes = records(lists.volumes);
  const sources = volumes.flatMap((volume) => records(field(volume, 'projected').sources));
  return {
    claims: new Set(claimNamesOf(pod)),
    configMaps: new Set([
      ...found.flatMap(({ configMaps }) => [...configMaps]),
      ...names([...volumes, ...sources].map((source) => field(source, 'configMap').name)),
    ]),
    secrets: new Set([
      ...found.flatMap(({ secrets }) => [...secrets]),
      ...names(volumes.map((volume) => field(volume, 'secret').secretName)),
      ...names(sources.map((source) => field(source, 'secret').name)),
    ]),
  };
}

type Fields = Readonly<Record<string, unknown>>;

const records = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const field = (value: Fields, name: string): Fields => {
  const inner = value[name];
  return isRecord(inner) ? inner : {};
};
const names = (values: readonly unknown[]) =>
  values.filter((value): value is string => typeof value === 'string' && value !== '');
