/**
 * Applies LimitRanges to the pods and claims of their namespace: sets defaults, then rejects. The ranges are
 * read from the cache (upstream: a lister): reading etcd would cost a request for each pod, even in
 * namespaces without ranges.
 */
import { type LimitRange, limitRangeResource } from '../../api/core/v1/limit-range.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/v1/types.gen.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import { newForbidden } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import type { ServerContext } from '../../apiserver/server-context.ts';
import { claimProblems, giveDefaults, podProblems } from './limit-checks.ts';

type Reader = Pick<ServerContext, 'cache'>;

export const limitRanger = (server: Reader): AdmissionPlugin => ({
  name: 'LimitRanger',
  mutate(admission) {
    if (!isLimited(admission) || admission.definition.plural !== 'pods') return;
    for (const range of rangesOf(server, admission)) giveDefaults(admission.object as Pod, range);
  },
  validate(admission) {
    if (!isLimited(admission)) return;
    const { definition, name, object } = admission;
    for (const range of rangesOf(server, admission)) {
      const problems =
        definition.plural === 'pods'
          ? podProblems(object as Pod, range)
          : claimProblems(object as PersistentVolumeClaim, range);
      if (problems.length > 0) throw newForbidden(definition, name, together(problems));
    }
  },
});

/** Returns whether the write is checked. A pod's resources only change by a resize; a claim may grow. */
function isLimited({ definition, operation, subresource, object, old }: Admission): boolean {
  if (definition.group !== '' || !object) return false;
  if (definition.plural === 'pods')
    return operation === 'create' ? subresource === '' : subresource === 'resize';
  if (subresource !== '') return false;
  return definition.plural === 'persistentvolumeclaims' && !old?.metadata.deletionTimestamp;
}

const rangesOf = ({ cache }: Reader, { namespace }: Admission) =>
  cache.list(storagePrefix(limitRangeResource, namespace)).map(({ object }) => object as LimitRange);

const together = (problems: readonly string[]) =>
  problems.length === 1 ? String(problems[0]) : `[${problems.join(', ')}]`;
