/**
 * Warnings for conflicting files of a volume: duplicate paths, or one path below another. The texts are
 * upstream's.
 */
import { withoutTrailing } from '../../../../base/trailing.ts';
import type { Volume, VolumeProjection } from '../types.gen.ts';

interface Place {
  /** Index in the list. */
  readonly index?: number;
  readonly path: string;
  /** Source of the file in a projected volume. */
  readonly source: string;
}

const placesOf = (items: readonly { readonly path: string }[], source = ''): Place[] =>
  items.map(({ path }) => ({ path, source }));

export const overlapWarnings = (volumes: readonly Volume[]): string[] =>
  volumes.flatMap(({ name, configMap, secret, downwardAPI, projected }) => {
    const told = (what: string, places: readonly Place[]) =>
      overlaps(places).map((text) => `volume ${JSON.stringify(name)} (${what}): overlapping paths: ${text}`);
    const sources = projected?.sources ?? [];
    return [
      ...told(`ConfigMap ${JSON.stringify(configMap?.name ?? '')}`, placesOf(configMap?.items ?? [])),
      ...told(`Secret ${JSON.stringify(secret?.secretName ?? '')}`, placesOf(secret?.items ?? [])),
      ...told('DownwardAPI', placesOf(downwardAPI?.items ?? [])),
      ...sources
        .filter((source) => Object.values(source).every((value) => value === undefined))
        .map(() => `volume ${JSON.stringify(name)} (Projected) has no sources provided`),
      ...told('Projected', sources.flatMap(projectedPlaces)),
    ];
  });

function projectedPlaces(source: VolumeProjection): Place[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle } = source;
  if (configMap?.items) return placesOf(configMap.items, `ConfigMap ${JSON.stringify(configMap.name ?? '')}`);
  if (secret?.items) return placesOf(secret.items, `Secret ${JSON.stringify(secret.name ?? '')}`);
  if (downwardAPI?.items) return placesOf(downwardAPI.items, 'DownwardAPI');
  if (serviceAccountToken) return placesOf([serviceAccountToken], 'ServiceAccountToken');
  if (clusterTrustBundle) {
    const { name, signerName = '' } = clusterTrustBundle;
    return placesOf([clusterTrustBundle], `ClusterTrustBundle ${JSON.stringify(name ?? signerName)}`);
  }
  const { certificateChainPath, keyPath, credentialBundlePath } = source.podCertificate ?? {};
  return [
    ...placesAtPath(certificateChainPath, 'PodCertificate chain'),
    ...placesAtPath(keyPath, 'PodCertificate key'),
    ...placesAtPath(credentialBundlePath, 'PodCertificate credential bundle'),
  ];
}

const placesAtPath = (path: string | undefined, source: string): Place[] =>
  path ? placesOf([{ path }], source) : [];

const placesAt = (places: ReadonlyMap<string, readonly Place[]>, path: string) => places.get(path) ?? [];
const byIndex = (a: Place, b: Place) => (a.index ?? 0) - (b.index ?? 0);

/**
 * Returns the overlaps. Maps of parent directories find them: a volume may have very many paths, and few of
 * them overlap.
 */
function overlaps(given: readonly Place[]): string[] {
  const byPath = new Map<string, Place[]>();
  const below = new Map<string, Place[]>();
  const told: string[] = [];
  for (const [index, { path: raw, source }] of given.entries()) {
    const place = { index, path: withoutTrailing(raw, '/'), source };
    if (place.path === '') continue;
    if (told.length >= most) break;
    const above = parents(place.path);
    const others = [
      ...above.flatMap((path) => placesAt(byPath, path)),
      ...placesAt(byPath, place.path),
      ...placesAt(below, place.path),
    ].sort(byIndex);
    const reported = others.slice(0, most - told.length);
    told.push(...reported.map((other) => `${textOf(place)} with ${textOf(other)}`));
    add(byPath, place.path, place);
    for (const path of above) add(below, path, place);
  }
  return told;
}

/** Maximum number of warnings, since a response has no room for more. */
const most = 64;

/**
 * Maximum number of parents: a path may be as long as a request, and all its parents would be much longer.
 */
const deepest = 64;

function parents(path: string): string[] {
  const found: string[] = [];
  for (let at = path.indexOf('/', 1); at > 0 && found.length < deepest; at = path.indexOf('/', at + 1))
    found.push(path.slice(0, at));
  return found;
}

function add(map: Map<string, Place[]>, key: string, place: Place): void {
  const list = map.get(key);
  // Further duplicates of a path are only compared with the first ones.
  if (!list) map.set(key, [place]);
  else if (list.length < most) list.push(place);
}

const textOf = ({ path, source }: Place) =>
  source === '' ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`;
