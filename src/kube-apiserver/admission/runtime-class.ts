/**
 * Copies overhead and scheduling from the RuntimeClass that a pod names: the resources that the runtime needs
 * in addition to the containers, and the nodes that have the runtime (upstream:
 * plugin/pkg/admission/runtimeclass).
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { mergeTolerations } from '../../api/core/v1/pod/tolerations.ts';
import { type RuntimeClass, runtimeClassResource } from '../../api/node/v1/runtime-class.ts';
import { sameAmounts } from '../../apimachinery/quantity.ts';
import { newForbidden, type StatusError } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import type { ServerContext } from '../../apiserver/server-context.ts';
import { findObject } from '../../apiserver/stored-object.ts';

type Reader = Pick<ServerContext, 'cache' | 'store'>;

export const runtimeClasses = (server: Reader): AdmissionPlugin => ({
  name: 'RuntimeClass',
  async mutate(admission) {
    if (!isNewPod(admission)) return;
    const { spec } = admission.object as Pod;
    const found = await classOf(server, admission);
    const refuse = (why: string) => refusal(admission, why);
    if (found?.overhead) takeOverhead(spec, found.overhead, refuse);
    else if (asksFor(spec.overhead))
      throw refuse('Pod Overhead set without corresponding RuntimeClass defined Overhead');
    if (found?.scheduling) takeScheduling(spec, found.scheduling, admission);
  },
});

const isNewPod = ({ definition, operation, subresource }: Admission) =>
  definition.group === '' && definition.plural === 'pods' && subresource === '' && operation === 'create';

const refusal = ({ definition, name }: Admission, why: string): StatusError =>
  newForbidden(definition, name, `pod rejected: ${why}`);

async function classOf(server: Reader, admission: Admission): Promise<RuntimeClass | undefined> {
  const { runtimeClassName } = (admission.object as Pod).spec;
  if (runtimeClassName === undefined) return undefined;
  const found = await findObject(server, runtimeClassResource, '', runtimeClassName);
  if (found) return found;
  throw refusal(admission, `RuntimeClass ${JSON.stringify(runtimeClassName)} not found`);
}

type Spec = Pod['spec'];

const asksFor = (amounts: Spec['overhead']) => Object.keys(amounts ?? {}).length > 0;

function takeOverhead(
  spec: Spec,
  { podFixed = {} }: NonNullable<RuntimeClass['overhead']>,
  refuse: (why: string) => StatusError,
): void {
  if (asksFor(spec.overhead) && !sameAmounts(spec.overhead ?? {}, podFixed))
    throw refuse("Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  spec.overhead = { ...podFixed };
}

function takeScheduling(
  spec: Spec,
  { nodeSelector = {}, tolerations = [] }: NonNullable<RuntimeClass['scheduling']>,
  { definition, name }: Admission,
): void {
  const wanted = new Map(Object.entries(spec.nodeSelector ?? {}));
  for (const [key, value] of Object.entries(nodeSelector)) {
    const own = wanted.get(key);
    if (own === undefined || own === value) continue;
    const both = `runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`;
    throw newForbidden(definition, name, `conflict: ${both}`);
  }
  if (Object.keys(nodeSelector).length > 0) spec.nodeSelector = { ...spec.nodeSelector, ...nodeSelector };
  if (tolerations.length > 0) spec.tolerations = mergeTolerations(spec.tolerations ?? [], tolerations);
}
