/**
 * A pod gets the priority of the class it names, or of the default class (upstream: plugin/pkg/admission/priority). Only one
 * class can be the default, and those of the system stay.
 */
import type { Pod } from '../../api/core/v1/pod.ts';
import { systemClasses } from '../../api/core/v1/priority.ts';
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
  validate({ definition, operation, subresource, name, object }) {
    if (!isKind(definition, priorityClassResource.group, priorityClassResource.plural)) return;
    if (operation === 'delete' && systemClasses.has(name))
      throw newForbidden(definition, name, 'this is a system priority class and cannot be deleted');
    if (subresource !== '' || !(object as PriorityClass | undefined)?.globalDefault) return;
    const other = defaultClass(server);
    if (!other || (operation === 'update' && other.metadata.name === name)) return;
    const why = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`;
    throw newForbidden(definition, name, why);
  },
});

const isKind = (ref: Pick<ResourceRef, 'group' | 'plural'>, group: string, plural: string) =>
  ref.group === group && ref.plural === plural;

/** What the class says where no class says anything. */
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

/** An update that leaves them out changes nothing. */
function keepPriority(spec: Pod['spec'], old: Pod['spec']): void {
  if (spec.priority === undefined && old.priority !== undefined) spec.priority = old.priority;
  if (spec.preemptionPolicy === undefined && old.preemptionPolicy !== undefined)
    spec.preemptionPolicy = old.preemptionPolicy;
}

/** Should there be two, of two made at once, that of the lowest value. */
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
