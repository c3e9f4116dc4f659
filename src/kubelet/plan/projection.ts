/**
 * The files of a volume that come from the API (upstream: pkg/volume/projected, configmap, secret and downwardapi, which are the
 * same with one source).
 */
import type { Pod } from '../../api/core/v1/pod.ts';
import type {
  DownwardAPIVolumeFile,
  KeyToPath,
  ProjectedVolumeSource,
  ServiceAccountTokenProjection,
  Volume,
} from '../../api/core/v1/types.gen.ts';
import { type ConfigSources, podField } from './env.ts';
import { resourceValue } from './resource-value.ts';
import { VolumeError } from './volume-error.ts';

export interface VolumeFile {
  /** Within the volume; its directories are made. */
  readonly path: string;
  readonly content: Uint8Array;
  readonly mode: number;
  /** The user that it belongs to; absent for root. */
  readonly owner?: number;
}

export interface ProjectionSources extends ConfigSources {
  /** What each of the volume's token sources stands for. */
  readonly tokens: ReadonlyMap<ServiceAccountTokenProjection, string>;
  readonly allocatable: Readonly<Record<string, string>>;
}

/** The sources of the volume's files; undefined for a volume of another type. */
export function projectionOf(volume: Volume): ProjectedVolumeSource | undefined {
  const { projected, secret, configMap, downwardAPI } = volume;
  if (projected) return projected;
  if (secret) {
    const { secretName, items, optional, defaultMode } = secret;
    return { sources: [{ secret: { name: secretName, items, optional } }], defaultMode };
  }
  if (configMap) {
    const { defaultMode, ...source } = configMap;
    return { sources: [{ configMap: source }], defaultMode };
  }
  if (downwardAPI) {
    const { defaultMode, ...source } = downwardAPI;
    return { sources: [{ downwardAPI: source }], defaultMode };
  }
  return undefined;
}

export const tokensOf = ({ sources = [] }: ProjectedVolumeSource): readonly ServiceAccountTokenProjection[] =>
  sources.flatMap(({ serviceAccountToken }) => serviceAccountToken ?? []);

/** Its files are secrets, which no disk should keep. */
export const isSecret = ({ sources = [] }: ProjectedVolumeSource) =>
  sources.some(({ secret, serviceAccountToken }) => secret ?? serviceAccountToken);

/** By their names, which are of the pod's namespace. */
export const namesIn = ({ sources = [] }: ProjectedVolumeSource) => ({
  configMaps: new Set(sources.flatMap(({ configMap }) => configMap?.name ?? [])),
  secrets: new Set(sources.flatMap(({ secret }) => secret?.name ?? [])),
});

const usualMode = 0o644;

/** Of one path the last source counts. Throws VolumeError for what is not there and not optional. */
export function projectedFiles(
  pod: Pod,
  source: ProjectedVolumeSource,
  given: ProjectionSources,
): readonly VolumeFile[] {
  const { defaultMode = usualMode } = source;
  const files = new Map<string, VolumeFile>();
  for (const { configMap, secret, downwardAPI, serviceAccountToken: token } of source.sources ?? []) {
    const found = [
      ...(configMap ? keyFiles('configmap', configMap, configMapData(given, configMap.name)) : []),
      ...(secret ? keyFiles('secret', secret, secretData(given, secret.name)) : []),
      ...(downwardAPI?.items ?? []).map((item) => fieldFile(pod, item, given)),
    ];
    for (const { path, content, mode = defaultMode } of found)
      files.set(path, { path: checked(path), content, mode });
    if (token) files.set(token.path, tokenFile(pod, token, given, defaultMode));
  }
  return [...files.values()];
}

/** Also where an older server has not looked at it. */
function checked(path: string): string {
  const parts = path.split('/');
  if (path === '' || parts[0] === '' || path.startsWith('..') || parts.includes('..'))
    throw new VolumeError(`the path ${JSON.stringify(path)} does not lead to a file of the volume`);
  return path;
}

interface Content {
  readonly path: string;
  readonly content: Uint8Array;
  readonly mode?: number | undefined;
}

type Data = ReadonlyMap<string, Uint8Array>;

function configMapData({ configMaps }: ProjectionSources, name = ''): Data | undefined {
  const found = configMaps.get(name);
  if (!found) return undefined;
  const texts = Object.entries(found.data ?? {}).map(
    ([key, text]) => [key, new TextEncoder().encode(text)] as const,
  );
  const others = Object.entries(found.binaryData ?? {}).map(([key, text]) => [key, bytesOf(text)] as const);
  return new Map([...texts, ...others]);
}

function secretData({ secrets }: ProjectionSources, name = ''): Data | undefined {
  const found = secrets.get(name);
  return (
    found && new Map(Object.entries(found.data ?? {}).map(([key, text]) => [key, bytesOf(text)] as const))
  );
}

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

function keyFiles(
  kind: 'configmap' | 'secret',
  source: {
    readonly name?: string | undefined;
    readonly items?: readonly KeyToPath[] | undefined;
    readonly optional?: boolean | undefined;
  },
  data: Data | undefined,
): readonly Content[] {
  const { name, items, optional = false } = source;
  if (!data) {
    if (optional) return [];
    throw new VolumeError(`${kind} ${JSON.stringify(name)} not found`);
  }
  if (!items?.length) return [...data].map(([path, content]) => ({ path, content }));
  return items.flatMap(({ key, path, mode }) => {
    const content = data.get(key);
    if (content) return [{ path, content, mode }];
    if (optional) return [];
    throw new VolumeError(`${kind} ${JSON.stringify(name)} has no key ${JSON.stringify(key)}`);
  });
}

function fieldFile(
  pod: Pod,
  { path, fieldRef, resourceFieldRef, mode }: DownwardAPIVolumeFile,
  { allocatable }: ProjectionSources,
): Content {
  const [first] = pod.spec.containers;
  if (resourceFieldRef && first) {
    const text = resourceValue(pod, first, resourceFieldRef, allocatable);
    return { path, content: new TextEncoder().encode(text), mode };
  }
  return { path, content: new TextEncoder().encode(podField(pod, fieldRef?.fieldPath ?? '')), mode };
}

/** A token is its reader's alone, where it is known who that is. */
function tokenFile(
  pod: Pod,
  token: ServiceAccountTokenProjection,
  { tokens }: ProjectionSources,
  defaultMode: number,
): VolumeFile {
  const content = new TextEncoder().encode(tokens.get(token) ?? '');
  const owner = onlyUser(pod);
  const isOwned = owner !== undefined || pod.spec.securityContext.fsGroup !== undefined;
  const mode = isOwned ? 0o600 : defaultMode;
  return { path: checked(token.path), content, mode, ...(owner !== undefined && { owner }) };
}

/** The user as which all containers run; undefined when one does not say so, or another user. */
function onlyUser({ spec }: Pod): number | undefined {
  const users = [...(spec.initContainers ?? []), ...spec.containers].map(
    ({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext.runAsUser,
  );
  const [first] = users;
  return users.every((user) => user === first) ? first : undefined;
}
