/**
 * Adds default tolerations for unhealthy nodes (upstream's DefaultTolerationSeconds): a pod without
 * tolerations of its own stays on such a node long enough for a restart of the node, and is then deleted by
 * taint eviction.
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Toleration } from '../../api/core/v1/types.gen.ts';
import type { AdmissionPlugin } from '../../apiserver/admission/plugin.ts';

/** Seconds of each toleration; 0 means immediate eviction. */
export interface DefaultTolerations {
  /** Seconds on a node whose kubelet reports that it is not ready. */
  readonly notReadySeconds: number;
  /** Seconds on a node without heartbeats. */
  readonly unreachableSeconds: number;
}

/** Upstream's five minutes. */
export const defaultTolerations: DefaultTolerations = { notReadySeconds: 300, unreachableSeconds: 300 };

export const defaultTolerationSeconds = (defaults: DefaultTolerations): AdmissionPlugin => ({
  name: 'DefaultTolerationSeconds',
  mutate({ definition, subresource, object }) {
    if (definition.group !== '' || definition.plural !== 'pods' || subresource !== '') return;
    if (object) addDefaultTolerations(object as Pod, defaults);
  },
});

/** Mutates the pod. A toleration that the pod has already, for any time, replaces the default. */
export function addDefaultTolerations({ spec }: Pod, defaults: DefaultTolerations): void {
  const missing = [
    { key: 'node.kubernetes.io/not-ready', tolerationSeconds: defaults.notReadySeconds },
    { key: 'node.kubernetes.io/unreachable', tolerationSeconds: defaults.unreachableSeconds },
  ].filter(({ key }) => !spec.tolerations?.some((toleration) => toleratesEviction(toleration, key)));
  spec.tolerations = [
    ...(spec.tolerations ?? []),
    ...missing.map(
      ({ key, tolerationSeconds }): Toleration => ({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds,
      }),
    ),
  ];
}

const toleratesEviction = (toleration: Toleration, key: string) =>
  (!toleration.key || toleration.key === key) && (!toleration.effect || toleration.effect === 'NoExecute');
