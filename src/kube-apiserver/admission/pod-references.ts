/**
 * A pod that names a class that does not apply is refused, as upstream's plugins RuntimeClass and Priority do. Stored classes are not
 * acted on yet (their creators are warned), so only the two that Kubernetes always has apply.
 */
import type { Pod } from '../../api/core/v1/pod.ts';
import { systemClasses } from '../../api/core/v1/priority.ts';
import { newForbidden } from '../../apimachinery/status-error.ts';
import type { AdmissionPlugin } from '../../apiserver/admission/plugin.ts';

export const podReferences: AdmissionPlugin = {
  name: 'PodReferences',
  mutate({ definition, operation, subresource, name, object }) {
    if (definition.group !== '' || definition.plural !== 'pods' || subresource !== '') return;
    if (operation !== 'create') return;
    const pod = object as Pod;
    const why = unknownRuntimeClass(pod) ?? wrongPriority(pod);
    if (why) throw newForbidden(definition, name, why);
    const priority = systemClasses.get(pod.spec.priorityClassName ?? '');
    if (priority !== undefined) pod.spec.priority = priority;
  },
};

function unknownRuntimeClass({ spec }: Pod): string | undefined {
  const { runtimeClassName, overhead } = spec as {
    readonly runtimeClassName?: string;
    readonly overhead?: Readonly<Record<string, string>>;
  };
  if (runtimeClassName) return `pod rejected: RuntimeClass "${runtimeClassName}" not found`;
  if (!overhead || Object.keys(overhead).length === 0) return undefined;
  return 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';
}

function wrongPriority({ spec: { priority, priorityClassName = '' } }: Pod): string | undefined {
  const right = priorityClassName === '' ? 0 : systemClasses.get(priorityClassName);
  if (right === undefined) return `no PriorityClass with name ${priorityClassName} was found`;
  if (priority === undefined || priority === right) return undefined;
  const rule = `priority admission controller computed ${right} from the given PriorityClass name`;
  return `the integer value of priority (${priority}) must not be provided in pod spec; ${rule}`;
}
