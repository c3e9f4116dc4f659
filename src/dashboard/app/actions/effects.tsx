/** Objects that are deleted with others, as a dialog shows them before the deletion. */
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { ownedOf } from '../cluster/plan/owner-tree.ts';
import { type Survey, survey, surveyed } from '../cluster/survey.ts';
import { type DeleteEffects, deleteEffects, effectsText } from './plan/delete-effects.ts';

export interface FoundEffects extends DeleteEffects {
  /** Kinds whose objects could not be listed. */
  readonly unread: readonly string[];
  /** Number of objects that the user deletes. */
  readonly count: number;
}

/** Maximum number of names that are listed of the objects that are deleted too; the others are counted. */
const listed = 12;
/** Maximum number of namespaces that are surveyed one by one; of more of them the whole cluster is read. */
const maxNamespaces = 6;

/** Finds what is deleted with objects of one kind. */
export async function effectsOfDeletion(
  kind: ApiKind,
  objects: readonly KubeObject[],
): Promise<FoundEffects> {
  const defined = definedKeys(kind, objects);
  const found = await surveyFor(kind, objects, defined);
  const roots = objects.map((object) => ({ ...ownedOf(kind.key, object), kind: kind.kind }));
  const effects = deleteEffects(roots, found.objects, defined);
  return { ...effects, unread: found.unread, count: objects.length };
}

/** Returns the keys of the kinds that CustomResourceDefinitions define: their names. */
const definedKeys = (kind: ApiKind, objects: readonly KubeObject[]): readonly string[] =>
  kind.key === 'customresourcedefinitions.apiextensions.k8s.io'
    ? objects.map(({ metadata }) => metadata.name)
    : [];

async function surveyFor(
  kind: ApiKind,
  objects: readonly KubeObject[],
  defined: readonly string[],
): Promise<Survey> {
  if (defined.length > 0)
    return survey(
      '',
      surveyed('').filter(({ key }) => defined.includes(key)),
    );
  const places = objects.map(({ metadata }) =>
    kind.key === 'namespaces' ? metadata.name : (metadata.namespace ?? ''),
  );
  const namespaces = [...new Set(places)];
  const surveys: Survey[] = [];
  for (const namespace of namespaces.length > maxNamespaces ? [''] : namespaces)
    surveys.push(await survey(namespace));
  return {
    objects: surveys.flatMap((one) => one.objects),
    unread: [...new Set(surveys.flatMap((one) => one.unread))],
  };
}

interface Props {
  /** Undefined until it is known. */
  readonly found: FoundEffects | undefined;
  /** True if the user keeps the objects that would be deleted too. */
  readonly areOrphans: boolean;
}

export function Effects({ found, areOrphans }: Props) {
  if (found === undefined) return <p class="faint pulse">Looking for objects that are deleted too…</p>;
  const { gone, remarks, unread, count } = found;
  const more = gone.length - listed;
  return (
    <>
      {gone.length === 0 || areOrphans ? (
        <p>Nothing else is deleted.</p>
      ) : (
        <>
          <p>
            These objects are deleted with {count === 1 ? 'it' : 'them'}: <strong>{effectsText(gone)}</strong>
          </p>
          <ul class="names">
            {gone.slice(0, listed).map(({ kind, metadata }) => (
              <li key={metadata.uid}>
                <span class="faint">{kind}</span> {metadata.name}
              </li>
            ))}
            {more > 0 && <li class="faint">and {more} more</li>}
          </ul>
        </>
      )}
      {remarks.map((remark) => (
        <p key={remark}>{remark}</p>
      ))}
      {unread.length > 0 && (
        <p class="faint">
          You may not list {unread.slice(0, 6).join(', ')}: objects of these kinds may be deleted too.
        </p>
      )}
    </>
  );
}
