/**
 * Kinds configMap, secret, downwardAPI and projected: files from the API, which follow changes of their
 * sources.
 */
import { chmod, mkdir } from 'node:fs/promises';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type {
  ClusterTrustBundleProjection,
  PodCertificateProjection,
  ServiceAccountTokenProjection,
  Volume,
} from '../../../api/core/v1/types.gen.ts';
import { errorMessage } from '../../../base/log.ts';
import { readAll } from '../../environment/container-environment.ts';
import { certificateSources, type GivenCertificate } from '../../environment/pod-certificates.ts';
import { isFilled, replaceFiles } from '../atomic-files.ts';
import { isMountPoint } from '../mounts.ts';
import {
  type GivenToken,
  inOne,
  isSecret,
  namesIn,
  projectedFiles,
  projectionOf,
  shownOfPod,
  tokensOf,
  trustBundlesOf,
} from '../plan/projection.ts';
import { VolumeError } from '../plan/volume-error.ts';
import { memoryVolumeBytes, ownPlace } from '../plan/volumes.ts';
import type { PodVolume, VolumeKind, VolumeTools } from './volume-kind.ts';

export const projected: VolumeKind = {
  has: (volume) => projectionOf(volume) !== undefined,
  // Containers must not write into content that comes from the API.
  place: ({ name }, podDirectory) => ({ path: ownPlace(podDirectory, name), readOnly: true, isAtomic: true }),
  basis({ sources, certificates, allocatable }, { pod, volume }) {
    const source = projectionOf(volume) ?? {};
    const { namespace = '' } = pod.metadata;
    const { configMaps, secrets } = namesIn(source);
    return JSON.stringify([
      [...configMaps].map((name) => sources.version('configMap', namespace, name)),
      [...secrets].map((name) => sources.version('secret', namespace, name)),
      trustBundlesOf(source).map((one) => sources.trustBundles.version(one)),
      certificatesOf(pod, volume).map((one) => certificates.version(pod, one)),
      shownOfPod(pod, source, allocatable),
    ]);
  },
  isWhole: ({ path }) => isFilled(path),
  steps: [{ operation: 'MountVolume.SetUp', run: setUp }],
};

async function setUp(tools: VolumeTools, { pod, volume, place: { path } }: PodVolume) {
  const source = projectionOf(volume) ?? {};
  const { namespace = '' } = pod.metadata;
  const { configMaps, secrets } = namesIn(source);
  const tokens = new Map<ServiceAccountTokenProjection, GivenToken>();
  // Requested one after the other, so that the same token is requested only once.
  for (const wanted of tokensOf(source)) tokens.set(wanted, await tools.tokens.get(pod, wanted));
  const certificates = await readCertificates(tools, pod, volume);
  const given = {
    configMaps: await readAll(configMaps, (name) => tools.sources.configMap(namespace, name)),
    secrets: await readAll(secrets, (name) => tools.sources.secret(namespace, name)),
    tokens: new Map([...tokens].map(([wanted, { token }]) => [wanted, token])),
    allocatable: tools.allocatable,
    trustAnchors: await readTrust(tools, trustBundlesOf(source)),
    certificates,
  };
  const files = projectedFiles(pod, source, given);
  await mkdir(path, { recursive: true });
  // The size limit is the same as for a volume in memory that containers fill.
  const size = memoryVolumeBytes(pod, undefined, tools.allocatableMemory);
  if (isSecret(source) && !(await isMountPoint(path)))
    await tools.exec('mount', ['-t', 'tmpfs', '-o', `mode=0755,size=${size}`, 'tmpfs', path]);
  await chmod(path, 0o755);
  await replaceFiles(path, files, pod.spec.securityContext.fsGroup);
  return earliest([...tokens.values(), ...certificates.values()]);
}

/** Returns the certificates of each source that selects a bundle. Rejects when bundles cannot be read now. */
async function readTrust({ sources }: VolumeTools, wanted: readonly ClusterTrustBundleProjection[]) {
  const found = new Map<ClusterTrustBundleProjection, string>();
  for (const source of wanted) {
    const anchors = await sources.trustBundles.anchors(source);
    if (anchors !== undefined) found.set(source, anchors);
  }
  return found;
}

const certificatesOf = (pod: Pod, { name }: Volume) =>
  certificateSources(pod).filter((source) => source.volume === name);

/** Returns the certificate of each source. Rejects with all reasons while one is missing. */
async function readCertificates(tools: VolumeTools, pod: Pod, volume: Volume) {
  const found = new Map<PodCertificateProjection, GivenCertificate>();
  const reasons: string[] = [];
  // All are requested at once: a signer may take a while for each.
  const reads = certificatesOf(pod, volume).map(async (source) => {
    try {
      found.set(source.projection, await tools.certificates.get(pod, source));
    } catch (error) {
      reasons.push(errorMessage(error));
    }
  });
  await Promise.all(reads);
  if (reasons.length > 0) throw new VolumeError(inOne(reasons));
  return found;
}

const earliest = (given: readonly { readonly renewAt: number | undefined }[]): number | undefined => {
  const times = given.flatMap(({ renewAt }) => renewAt ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
};
