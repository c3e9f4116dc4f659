/**
 * Sets the priority of a pod from its class, or from the default class (upstream:
 * plugin/pkg/admission/priority). Only one class can be the default, and system classes cannot be deleted.
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { systemClasses } from '../../api/core/v1/pod/priority.ts';
import { type PriorityClass, priorityClassResource } from '../../api/scheduling/v1/priority-class.ts';
import { type ResourceRef, storagePrefix } from '../../apimachinery/resource-definition.ts';
import { newForbidden } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import type { ServerContext } from '../../apiserver/server-context.ts';
import { findObject } from '../../apiserver/stored-object.ts';

type Reader = Pick<ServerContext, 'cache' | 'store'>;

export const priority = (server: Reader): AdmissionPlugin => ({
  name: 'Priority',
  mutate(admission) {
    const { definition, operation, subresource, object, old } = admission;
    if (!isKind(definition, '', 'pods') || subresource !== '' || !object) return;
    if (operation === 'create') return setPriority(server, admission, object as Pod);
    if (old) keepPriority((object as Pod).spec, (old as Pod).spec);
  },
  validate(admission) {
    const { group, plural } = priorityClassResource;
    if (isKind(admission.definition, group, plural)) checkClass(server, admission);
  },
});

function checkClass(server: Reader, { definition, operation, subresource, name, object }: Admission): void {
  if (operation === 'delete' && systemClasses.has(name))
    throw newForbidden(definition, name, 'this is a system priority class and cannot be deleted');
  if (subresource !== '' || !(object as PriorityClass | undefined)?.globalDefault) return;
  const other = defaultClass(server);
  if (!other || (operation === 'update' && other.metadata.name === name)) return;
  const why = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`;
  throw newForbidden(definition, name, why);
}

const isKind = (ref: Pick<ResourceRef, 'group' | 'plural'>, group: string, plural: string) =>
  ref.group === group && ref.plural === plural;

/** Values if the pod names no class and there is no default class. */
const withoutClass = { value: 0, preemptionPolicy: 'PreemptLowerPriority' } as const;

async function setPriority(server: Reader, { definition, name }: Admission, { spec }: Pod): Promise<void> {
  const refuse = (why: string) => newForbidden(definition, name, why);
  const wanted = spec.priorityClassName;
  const found = wanted ? await findObject(server, priorityClassResource, '', wanted) : defaultClass(server);
  if (wanted && !found) throw refuse(`no PriorityClass with name ${wanted} was found`);
  const { value, preemptionPolicy } = found ?? withoutClass;
  if (spec.priority !== undefined && spec.priority !== value)
    throw refuse(computed('integer value of priority', spec.priority, value));
  if (preemptionPolicy && spec.preemptionPolicy && spec.preemptionPolicy !== preemptionPolicy)
    throw refuse(computed('string value of PreemptionPolicy', spec.preemptionPolicy, preemptionPolicy));
  if (found) spec.priorityClassName = found.metadata.name;
  spec.priority = value;
  if (preemptionPolicy) spec.preemptionPolicy = preemptionPolicy;
}

const computed = (what: string, given: string | number, right: string | number) =>
  `the ${what} (${given}) must not be provided in pod spec; priority admission controller computed ${right} from the given PriorityClass name`;

/** Restores the fields that an update leaves out: it does not change them. */
function keepPriority(spec: Pod['spec'], old: Pod['spec']): void {
  if (spec.priority === undefined && old.priority !== undefined) spec.priority = old.priority;
  if (spec.preemptionPolicy === undefined && old.preemptionPolicy !== undefined)
    spec.preemptionPolicy = old.preemptionPolicy;
}

/** Returns the default class. If two were created at the same time, returns the one with the lowest value. */
function defaultClass({ cache }: Reader): PriorityClass | undefined {
  const defaults = cache
    .list(storagePrefix(priorityClassResource))
    .map(({ object }) => object as PriorityClass)
    .filter(({ globalDefault }) => globalDefault);
  return defaults.reduce<PriorityClass | undefined>(
    (lowest, one) => (lowest && lowest.value <= one.value ? lowest : one),
    undefined,
  );
}
