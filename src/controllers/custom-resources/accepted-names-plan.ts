/** The names that a CustomResourceDefinition may use: each is used by one kind of a group. Pure. */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts';
import type { WantedCondition } from '../../api/apiextensions/v1/definition-conditions.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';

type Names = CustomResourceDefinition['spec']['names'];

/** Kinds that are part of the server. */
export type BuiltInKind = Pick<ResourceDefinition, 'group' | 'plural' | 'singular' | 'shortNames' | 'kind'>;

export interface Others {
  /** All definitions, with or without the one that is planned. */
  readonly definitions: readonly CustomResourceDefinition[];
  readonly builtIn: readonly BuiltInKind[];
}

interface UsedNames {
  /** Plural, singular and short names. */
  readonly resources: ReadonlySet<string | undefined>;
  /** Kinds of objects and lists. */
  readonly kinds: ReadonlySet<string | undefined>;
}

export interface AcceptedNames {
  readonly names: Names;
  /** The condition NamesAccepted. */
  readonly condition: WantedCondition;
}

/**
 * Returns the wanted names that are free and, in place of the others, the names that were accepted before.
 */
export function acceptedNames(definition: CustomResourceDefinition, others: Others): AcceptedNames {
  const { spec, status } = definition;
  const used = usedNames(definition, others);
  const before: Names = status?.acceptedNames ?? { plural: '', kind: '' };
  const singles = singleNames(spec.names, before, used);
  const shortNames = freeShortNames(spec.names, before, used);
  const conflict = shortNames.conflict ?? singles.conflict;
  const { categories } = spec.names;
  const { shortNames: _s, categories: _c, ...kept } = before;
  return {
    names: {
      ...kept,
      ...singles.names,
      ...(shortNames.names && { shortNames: shortNames.names }),
      ...(categories && { categories }),
    },
    condition: conflict ?? {
      type: 'NamesAccepted',
      status: 'True',
      reason: 'NoConflicts',
      message: 'no conflicts found',
    },
  };
}

function usedNames({ metadata, spec }: CustomResourceDefinition, others: Others): UsedNames {
  const { group } = spec;
  const accepted = others.definitions
    .filter((other) => other.spec.group === group && other.metadata.name !== metadata.name)
    .flatMap(({ status }) => status?.acceptedNames ?? []);
  const builtIn = others.builtIn.filter((kind) => kind.group === group);
  const all = [...accepted, ...builtIn];
  return {
    resources: new Set(all.flatMap((names) => [names.plural, names.singular, ...(names.shortNames ?? [])])),
    kinds: new Set([
      ...all.map(({ kind }) => kind),
      ...accepted.map(({ listKind }) => listKind),
      ...builtIn.map(({ kind }) => `${kind}List`),
    ]),
  };
}

const rules = [
  ['plural', 'resources', 'PluralConflict'],
  ['singular', 'resources', 'SingularConflict'],
  ['kind', 'kinds', 'KindConflict'],
  ['listKind', 'kinds', 'ListKindConflict'],
] as const;

/** Returns the names other than short names that are accepted now, and the last conflict. */
function singleNames(wanted: Names, before: Names, used: UsedNames) {
  const names: Partial<Names> = {};
  let conflict: WantedCondition | undefined;
  for (const [field, sort, reason] of rules) {
    const name = wanted[field];
    if (name && name !== before[field] && used[sort].has(name)) conflict = conflictOf(reason, [name]);
    else names[field] = name ?? '';
  }
  return { names, conflict };
}

/** Short names are accepted together or not at all. */
function freeShortNames({ shortNames }: Names, before: Names, used: UsedNames) {
  const own = before.shortNames ?? [];
  const taken = (shortNames ?? []).filter((name) => !own.includes(name) && used.resources.has(name));
  return taken.length === 0
    ? { names: shortNames, conflict: undefined }
    : { names: before.shortNames, conflict: conflictOf('ShortNamesConflict', taken) };
}

function conflictOf(reason: string, taken: readonly string[]): WantedCondition {
  const uses = taken.map((name) => `${JSON.stringify(name)} is already in use`);
  const message = uses.length > 1 ? `[${uses.join(', ')}]` : uses.join();
  return { type: 'NamesAccepted', status: 'False', reason, message };
}
