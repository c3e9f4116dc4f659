/** ConfigMaps and Secrets: only their existence, never their contents. */
import { type ConfigMap, configMapResource } from '../../../api/core/v1/config-map.ts';
import { type Secret, secretResource } from '../../../api/core/v1/secret.ts';
import { info, objectMetrics } from '../family.ts';
import { created, namespaced, owner, resourceVersion } from '../metadata-families.ts';

export const configMaps = objectMetrics<ConfigMap>({
  ref: configMapResource,
  labelsOf: namespaced('configmap'),
  families: [
    info('kube_configmap_info', 'Information about the ConfigMap.', () => ({})),
    created('kube_configmap'),
    resourceVersion('kube_configmap'),
  ],
});

export const secrets = objectMetrics<Secret>({
  ref: secretResource,
  labelsOf: namespaced('secret'),
  families: [
    info('kube_secret_info', 'Information about the Secret.', () => ({})),
    info('kube_secret_type', 'The type of the Secret.', ({ type }) => ({ type: type ?? '' })),
    created('kube_secret'),
    resourceVersion('kube_secret'),
    owner('kube_secret'),
  ],
});
