/** What a program in a pod needs to speak to the API: a token, the certificate of the authority, its namespace. */
import type { PodSpec, ProjectedVolumeSource } from '../../api/core/v1/types.gen.ts';
import { type Random, randomName } from '../../base/random.ts';

/** Where clients look for it; what a container mounts there itself stays. */
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const volumePrefix = 'kube-api-access-';

/** An hour, and some seconds by which tokens that nobody has chosen the time of are known. */
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

/** Mutates the specification. A volume of such a name is taken for the one that is needed. */
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
