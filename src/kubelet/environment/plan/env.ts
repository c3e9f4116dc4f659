/** A container's environment from the pod and the ConfigMaps and Secrets that it refers to. */
import type { ConfigMap } from '../../../api/core/v1/config-map.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { Secret } from '../../../api/core/v1/secret.ts';
import type { Container, EnvVar } from '../../../api/core/v1/types.gen.ts';
import { ContainerConfigError } from './container-config-error.ts';
import { expand, Room } from './expand.ts';
import { resourceValue } from './resource-value.ts';

/** Objects of the pod's namespace by name; missing ones are absent. */
export interface ConfigSources {
  readonly configMaps: ReadonlyMap<string, ConfigMap>;
  readonly secrets: ReadonlyMap<string, Secret>;
}

export interface PodFacts {
  /** Addresses of the pod, the primary one first. */
  readonly podIPs: readonly string[];
  /** Addresses of the node, the primary one first. */
  readonly hostIPs: readonly string[];
  /** Allocatable resources of this node: the limit of a container without one. */
  readonly allocatable: Readonly<Record<string, string>>;
  /** Variables of the Services; the container's own variables take precedence. */
  readonly serviceVariables: ReadonlyMap<string, string>;
}

/**
 * Returns the environment: envFrom in order, then env in order, where later values win. Each value can refer
 * to earlier variables, and to variables of Services that no variable of the container hides. Throws
 * ContainerConfigError for a missing object or key that is not optional, and for variables that are too long
 * for a program.
 */
export function resolveEnv(
  pod: Pod,
  container: Container,
  facts: PodFacts,
  sources: ConfigSources,
): ReadonlyMap<string, string> {
  const env = new Map<string, string>();
  const room = new Room();
  const set = (name: string, value: string) => {
    const before = env.get(name);
    room.take(value.length - (before === undefined ? -name.length : before.length));
    env.set(name, value);
  };
  for (const [name, value] of importedVariables(container, sources)) set(name, value);
  for (const variable of container.env ?? []) {
    const value = variableValue(pod, container, variable, facts, sources, env);
    if (value !== undefined) set(variable.name, value);
  }
  for (const [name, value] of facts.serviceVariables) if (!env.has(name)) set(name, value);
  return env;
}

/** Yields the variables of envFrom. Each source is read once the variables before it have been taken. */
function* importedVariables(
  { envFrom }: Container,
  sources: ConfigSources,
): Generator<readonly [name: string, value: string]> {
  for (const from of envFrom ?? []) {
    for (const [key, value] of fromSource(from, sources)) yield [`${from.prefix ?? ''}${key}`, value];
  }
}

function fromSource(
  { configMapRef, secretRef }: NonNullable<Container['envFrom']>[number],
  { configMaps, secrets }: ConfigSources,
): readonly (readonly [string, string])[] {
  if (configMapRef) {
    const found = configMaps.get(configMapRef.name);
    if (found) return Object.entries(found.data ?? {});
    requireOptional('configmap', configMapRef);
  }
  if (!secretRef) return [];
  const found = secrets.get(secretRef.name);
  if (!found) requireOptional('secret', secretRef);
  return Object.entries(found?.data ?? {}).map(([key, value]) => {
    return [key, decode(value, `key ${key} of secret ${JSON.stringify(secretRef.name)}`)] as const;
  });
}

/** Throws ContainerConfigError for a missing object that is not optional. */
function requireOptional(
  noun: string,
  { name, optional }: { readonly name: string; readonly optional?: boolean | undefined },
): void {
  if (!optional) throw new ContainerConfigError(`${noun} ${JSON.stringify(name)} not found`);
}

function variableValue(
  pod: Pod,
  container: Container,
  { name, value, valueFrom }: EnvVar,
  facts: PodFacts,
  { configMaps, secrets }: ConfigSources,
  env: ReadonlyMap<string, string>,
): string | undefined {
  if (!valueFrom) return expand(value ?? '', (other) => env.get(other) ?? facts.serviceVariables.get(other));
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  if (fieldRef) return fieldValue(pod, fieldRef.fieldPath, facts);
  if (resourceFieldRef) return resourceValue(pod, container, resourceFieldRef, facts.allocatable);
  if (configMapKeyRef) {
    return keyOf('configmap', 'ConfigMap', configMapKeyRef, configMaps.get(configMapKeyRef.name), pod);
  }
  if (secretKeyRef) {
    const encoded = keyOf('secret', 'Secret', secretKeyRef, secrets.get(secretKeyRef.name), pod);
    return encoded === undefined ? undefined : decode(encoded, `env ${name}`);
  }
  throw new ContainerConfigError(
    `env ${name}: valueFrom must have one of fieldRef, resourceFieldRef, configMapKeyRef or secretKeyRef; others are not supported`,
  );
}

function keyOf(
  noun: string,
  kind: string,
  ref: { readonly name: string; readonly key: string; readonly optional?: boolean | undefined },
  source: { readonly data?: Readonly<Record<string, string>> | undefined } | undefined,
  pod: Pod,
): string | undefined {
  // An object without entries has no data at all.
  const data = source?.data ?? {};
  const found = Object.hasOwn(data, ref.key) ? data[ref.key] : undefined;
  if (found !== undefined || ref.optional) return found;
  if (!source) throw new ContainerConfigError(`${noun} ${JSON.stringify(ref.name)} not found`);
  throw new ContainerConfigError(
    `couldn't find key ${ref.key} in ${kind} ${pod.metadata.namespace}/${ref.name}`,
  );
}

function fieldValue(pod: Pod, path: string, { podIPs, hostIPs }: PodFacts): string {
  const { spec } = pod;
  const ofMetadata = metadataField(pod, path);
  if (ofMetadata !== undefined) return ofMetadata;
  const fields = new Map([
    ['spec.nodeName', spec.nodeName],
    ['spec.serviceAccountName', spec.serviceAccountName ?? 'default'],
    ['status.podIP', podIPs[0]],
    ['status.podIPs', podIPs.join(',')],
    ['status.hostIP', hostIPs[0]],
    ['status.hostIPs', hostIPs.join(',')],
  ]);
  const value = fields.get(path);
  if (value === undefined) throw new ContainerConfigError(`unsupported fieldPath: ${path}`);
  return value;
}

/**
 * Returns a pod's field for a file of a volume: fields of its metadata, and its labels and annotations as
 * lines.
 */
export function podField(pod: Pod, path: string): string {
  const { labels, annotations } = pod.metadata;
  if (path === 'metadata.labels') return linesOf(labels);
  if (path === 'metadata.annotations') return linesOf(annotations);
  const value = metadataField(pod, path);
  if (value === undefined) throw new ContainerConfigError(`unsupported fieldPath: ${path}`);
  return value;
}

const linesOf = (values: Readonly<Record<string, string>> = {}) =>
  Object.keys(values)
    .sort()
    .map((key) => `${key}=${JSON.stringify(values[key])}`)
    .join('\n');

function metadataField({ metadata }: Pod, path: string): string | undefined {
  const [, map, key] = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path) ?? [];
  const values = map === 'labels' ? metadata.labels : metadata.annotations;
  if (key !== undefined) return new Map(Object.entries(values ?? {})).get(key) ?? '';
  const fields = new Map([
    ['metadata.name', metadata.name],
    ['metadata.namespace', metadata.namespace],
    ['metadata.uid', metadata.uid],
  ]);
  return fields.get(path);
}

/** Decodes a value. An environment is text: bytes that are not UTF-8 would arrive changed. */
function decode(base64: string, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)),
    );
  } catch (cause) {
    throw new ContainerConfigError(
      `${what}: the value is not UTF-8 text and cannot be an environment variable`,
      {
        cause,
      },
    );
  }
}
