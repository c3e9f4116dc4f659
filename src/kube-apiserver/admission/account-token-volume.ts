/**
 * Mounts into the containers of a pod what a client of the API needs: a token, the certificate of the
 * authority, the namespace.
 */
import type { PodSpec, ProjectedVolumeSource } from '../../api/core/v1/types.gen.ts';
import { type Random, randomName } from '../../base/random.ts';

/** Path at which clients look for the token. A mount of the container's own at this path is kept. */
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const volumePrefix = 'kube-api-access-';

/** One hour, plus some seconds that mark tokens without a chosen duration. */
const expirationSeconds = 3607;

const source = (): ProjectedVolumeSource => ({
  sources: [
    { serviceAccountToken: { expirationSeconds, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: {
        items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
      },
    },
  ],
  defaultMode: 0o644,
});

/**
 * Adds the volume and its mounts; mutates the specification. An existing volume with the name prefix is used
 * instead of a new one.
 */
export function mountToken(spec: PodSpec, random: Random): void {
  const own = spec.volumes?.find(({ name }) => name.startsWith(volumePrefix))?.name;
  const name = own ?? `${volumePrefix}${randomName(random, 5)}`;
  const containers = [...(spec.initContainers ?? []), ...spec.containers].filter(
    ({ volumeMounts = [] }) => !volumeMounts.some((mount) => mount.mountPath === mountPath),
  );
  for (const container of containers)
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }];
  if (own === undefined && containers.length > 0)
    spec.volumes = [...(spec.volumes ?? []), { name, projected: source() }];
}
