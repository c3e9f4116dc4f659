/**
 * The files of a volume that come from the API (upstream: pkg/volume/projected, configmap, secret and
 * downwardapi, which are handled as projected with one source).
 */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type {
  ClusterTrustBundleProjection,
  DownwardAPIVolumeFile,
  KeyToPath,
  PodCertificateProjection,
  ProjectedVolumeSource,
  ServiceAccountTokenProjection,
  Volume,
  VolumeProjection,
} from '../../../api/core/v1/types.gen.ts';
import { ContainerConfigError } from '../../environment/plan/container-config-error.ts';
import { type ConfigSources, podField } from '../../environment/plan/env.ts';
import { resourceValue } from '../../environment/plan/resource-value.ts';
import { VolumeError } from './volume-error.ts';

export interface VolumeFile {
  /** Path within the volume; its directories are created. */
  readonly path: string;
  readonly content: Uint8Array;
  readonly mode: number;
  /** Owner's uid; absent for root. */
  readonly owner?: number;
}

export interface KeyAndChain {
  readonly key: string;
  readonly chain: string;
}

export interface ProjectionSources extends ConfigSources {
  /** The tokens of the volume's token sources. */
  readonly tokens: ReadonlyMap<ServiceAccountTokenProjection, string>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** Certificates (PEM) of the volume's sources of trust bundles; absent for a source that selects none. */
  readonly trustAnchors: ReadonlyMap<ClusterTrustBundleProjection, string>;
  /** Certificates of the pod with their keys (PEM), of all sources that need one. */
  readonly certificates: ReadonlyMap<PodCertificateProjection, KeyAndChain>;
}

/** Returns the sources of the volume's files; undefined for a volume of another type. */
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

/** Returns the volume's sources of trust bundles. */
export const trustBundlesOf = ({
  sources = [],
}: ProjectedVolumeSource): readonly ClusterTrustBundleProjection[] =>
  sources.flatMap(({ clusterTrustBundle }) => clusterTrustBundle ?? []);

/** Returns true when the files are secrets, which must not be stored on disk. */
export const isSecret = ({ sources = [] }: ProjectedVolumeSource) =>
  sources.some(
    ({ secret, serviceAccountToken, podCertificate }) => secret ?? serviceAccountToken ?? podCertificate,
  );

/** Returns the names of the ConfigMaps and Secrets, which are in the pod's namespace. */
export const namesIn = ({ sources = [] }: ProjectedVolumeSource) => ({
  configMaps: new Set(sources.flatMap(({ configMap }) => configMap?.name ?? [])),
  secrets: new Set(sources.flatMap(({ secret }) => secret?.name ?? [])),
});

const usualMode = 0o644;

/** A token and the time at which it should be replaced, in milliseconds since the epoch. */
export interface GivenToken {
  readonly token: string;
  readonly renewAt: number;
}

/**
 * Returns the volume's files; for the same path, the last source counts. Throws VolumeError with one message
 * for all objects and keys that are missing and not optional.
 */
export function projectedFiles(
  pod: Pod,
  source: ProjectedVolumeSource,
  given: ProjectionSources,
): readonly VolumeFile[] {
  const { defaultMode = usualMode } = source;
  const files = new Map<string, VolumeFile>();
  const problems: string[] = [];
  const contents = new Contents(pod, given);
  for (const one of source.sources ?? []) {
    try {
      for (const file of filesOf(pod, one, contents, given, defaultMode)) files.set(file.path, file);
    } catch (error) {
      problems.push(problemOf(error));
    }
  }
  if (problems.length > 0) throw new VolumeError(inOne(problems));
  return [...files.values()];
}

/** Returns several messages as one. */
export const inOne = (problems: readonly string[]) =>
  problems.length === 1 ? String(problems[0]) : `[${[...new Set(problems)].join(', ')}]`;

function filesOf(
  pod: Pod,
  source: VolumeProjection,
  contents: Contents,
  given: ProjectionSources,
  defaultMode: number,
): readonly VolumeFile[] {
  const { configMap, secret, downwardAPI, serviceAccountToken: token } = source;
  const { clusterTrustBundle, podCertificate } = source;
  if (token) return [tokenFile(pod, token, given, defaultMode)];
  if (podCertificate) return certificateFiles(pod, podCertificate, given, defaultMode);
  if (clusterTrustBundle) return [trustFile(pod, clusterTrustBundle, given, defaultMode)];
  const found = [
    ...(configMap ? keyFiles('configmap', configMap, contents.ofConfigMap(configMap.name)) : []),
    ...(secret ? keyFiles('secret', secret, contents.ofSecret(secret.name)) : []),
    ...(downwardAPI?.items ?? []).map((item) => ({
      path: item.path,
      mode: item.mode,
      content: contents.ofField(item),
    })),
  ];
  return found.map(({ path, content, mode = defaultMode }) => ({ path: checked(path), content, mode }));
}

/** Returns a text of everything that the volume's files show of the pod itself. */
export function shownOfPod(
  pod: Pod,
  { sources = [] }: ProjectedVolumeSource,
  allocatable: Readonly<Record<string, string>>,
): string {
  const items = sources.flatMap(({ downwardAPI }) => downwardAPI?.items ?? []);
  // A field that several files show is included once.
  const fields = new Map(items.map((item) => [fieldOf(item), item]));
  return JSON.stringify([...fields.values()].map((item) => shownOrProblem(pod, item, allocatable)));
}

const fieldOf = ({ fieldRef, resourceFieldRef }: DownwardAPIVolumeFile) =>
  JSON.stringify([fieldRef, resourceFieldRef]);

function shownOrProblem(
  pod: Pod,
  item: DownwardAPIVolumeFile,
  allocatable: Readonly<Record<string, string>>,
): string {
  try {
    return fieldText(pod, item, allocatable);
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Returns the path; throws VolumeError for one that leaves the volume, because older servers did not check
 * it.
 */
function checked(path: string): string {
  const parts = path.split('/');
  if (parts[0] === '' || path.startsWith('..') || parts.includes('..'))
    throw new VolumeError(`the path ${JSON.stringify(path)} does not lead to a file of the volume`);
  return path;
}

interface Content {
  readonly path: string;
  readonly content: Uint8Array;
  readonly mode?: number | undefined;
}

type Data = ReadonlyMap<string, Uint8Array>;

/** Contents of files, in memory once however many files of a volume have the same. */
class Contents {
  readonly #pod: Pod;
  readonly #given: ProjectionSources;
  readonly #configMaps = new Map<string, Data | undefined>();
  readonly #secrets = new Map<string, Data | undefined>();
  readonly #fields = new Map<string, Uint8Array>();

  constructor(pod: Pod, given: ProjectionSources) {
    this.#pod = pod;
    this.#given = given;
  }

  ofConfigMap(name = ''): Data | undefined {
    return this.#configMaps.getOrInsertComputed(name, () => configMapData(this.#given, name));
  }

  ofSecret(name = ''): Data | undefined {
    return this.#secrets.getOrInsertComputed(name, () => secretData(this.#given, name));
  }

  /** Returns the text of a pod's field. Throws ContainerConfigError. */
  ofField(item: DownwardAPIVolumeFile): Uint8Array {
    const show = () => new TextEncoder().encode(fieldText(this.#pod, item, this.#given.allocatable));
    return this.#fields.getOrInsertComputed(fieldOf(item), show);
  }
}

function configMapData({ configMaps }: ProjectionSources, name: string): Data | undefined {
  const found = configMaps.get(name);
  if (!found) return undefined;
  const texts = Object.entries(found.data ?? {}).map(
    ([key, text]) => [key, new TextEncoder().encode(text)] as const,
  );
  const others = Object.entries(found.binaryData ?? {}).map(([key, text]) => [key, bytesOf(text)] as const);
  return new Map([...texts, ...others]);
}

function secretData({ secrets }: ProjectionSources, name: string): Data | undefined {
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
    throw new VolumeError(missingKey[kind](key));
  });
}

const missingKey = {
  configmap: (key: string) => `configmap references non-existent config key: ${key}`,
  secret: (key: string) => `references non-existent secret key: ${key}`,
};

function fieldText(
  pod: Pod,
  { fieldRef, resourceFieldRef }: DownwardAPIVolumeFile,
  allocatable: Readonly<Record<string, string>>,
): string {
  const [first] = pod.spec.containers;
  if (resourceFieldRef && first) return resourceValue(pod, first, resourceFieldRef, allocatable);
  return podField(pod, fieldRef?.fieldPath ?? '');
}

const tokenFile = (
  pod: Pod,
  token: ServiceAccountTokenProjection,
  { tokens }: ProjectionSources,
  defaultMode: number,
): VolumeFile => ownedFile(pod, token.path, tokens.get(token) ?? '', defaultMode);

/**
 * Returns the file of the selected trust bundles, which is empty if the source is optional and selects none.
 * Throws VolumeError with upstream's messages.
 */
function trustFile(
  pod: Pod,
  source: ClusterTrustBundleProjection,
  { trustAnchors }: ProjectionSources,
  defaultMode: number,
): VolumeFile {
  const { name, path, optional = false } = source;
  const anchors = trustAnchors.get(source);
  if (anchors === undefined && !optional)
    throw new VolumeError(
      name === undefined
        ? 'combination of signerName and labelSelector matched zero ClusterTrustBundles'
        : `while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io ${JSON.stringify(name)} not found`,
    );
  return ownedFile(pod, path, anchors ?? '', defaultMode);
}

/** Returns the files of the pod's certificate that the source names. */
function certificateFiles(
  pod: Pod,
  source: PodCertificateProjection,
  { certificates }: ProjectionSources,
  defaultMode: number,
): readonly VolumeFile[] {
  const { credentialBundlePath, keyPath, certificateChainPath } = source;
  const { key = '', chain = '' } = certificates.get(source) ?? {};
  const file = (path: string | undefined, text: string) =>
    path ? [ownedFile(pod, path, text, defaultMode)] : [];
  return [
    ...file(credentialBundlePath, key + chain),
    ...file(keyPath, key),
    ...file(certificateChainPath, chain),
  ];
}

/** Returns a file that only the user of all containers can read, where that user is known. */
function ownedFile(pod: Pod, path: string, text: string, defaultMode: number): VolumeFile {
  const owner = onlyUser(pod);
  const isOwned = owner !== undefined || pod.spec.securityContext.fsGroup !== undefined;
  const mode = isOwned ? 0o600 : defaultMode;
  const content = new TextEncoder().encode(text);
  return { path: checked(path), content, mode, ...(owner !== undefined && { owner }) };
}

/** Returns the user of all containers; undefined when they differ or when it is not set. */
function onlyUser({ spec }: Pod): number | undefined {
  const users = [...(spec.initContainers ?? []), ...spec.containers].map(
    ({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext.runAsUser,
  );
  const [first] = users;
  return users.every((user) => user === first) ? first : undefined;
}

/** Returns the message of a source that cannot be projected; throws other errors. */
function problemOf(error: unknown): string {
  if (error instanceof VolumeError || error instanceof ContainerConfigError) return error.message;
  throw error;
}
