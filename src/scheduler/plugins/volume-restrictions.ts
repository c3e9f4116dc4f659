import type { Cluster, Plugin, Rejection } from '../framework.ts';
import type { PodInfo } from '../node-info.ts';

const name = 'VolumeRestrictions';

interface State {
  readonly namespace: string | undefined;
  /** Claims of the pod with access mode ReadWriteOncePod. */
  readonly claims: ReadonlySet<string>;
  /** Number of uses of these claims by other placed pods, on any node. */
  readonly uses: number;
}

const conflict: Rejection = {
  plugin: name,
  text: 'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode',
};

/** Rejects a second pod for a ReadWriteOncePod claim, unless the pod can preempt the first one. */
export const volumeRestrictions: Plugin<State> = {
  name,
  preFilter({ pod: { metadata }, claims }, cluster) {
    const { namespace = '', uid } = metadata;
    const exclusive = claims.filter((claim) => isExclusive(namespace, claim, cluster));
    const uses = exclusive.reduce((sum, claim) => sum + cluster.claimUsers(namespace, claim, uid), 0);
    return uses === 0 ? 'skip' : { state: { namespace, claims: new Set(exclusive), uses } };
  },
  filter: (_pod, _node, { uses }) => (uses > 0 ? [conflict] : []),
  stateWith: (state, _pod, other, _node, sign) => ({
    ...state,
    uses: state.uses + sign * usesOf(state, other),
  }),
  helps: (event, pod) =>
    event.kind === 'podRemoved' &&
    event.pod.pod.metadata.namespace === pod.pod.metadata.namespace &&
    event.pod.claims.some((claim) => pod.claims.includes(claim)),
};

const isExclusive = (namespace: string, claim: string, { volumes }: Cluster) =>
  volumes.claim(namespace, claim)?.spec.accessModes?.includes('ReadWriteOncePod') ?? false;

const usesOf = ({ namespace, claims }: State, { pod, claims: others }: PodInfo) =>
  pod.metadata.namespace === namespace ? others.filter((claim) => claims.has(claim)).length : 0;
