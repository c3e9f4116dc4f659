/** The requests that create the objects of a text. Pure. */
import { isRecord, type JsonObject } from '../../../../../apimachinery/equality.ts';
import { recordAt, recordsAt, textAt } from '../../../../../apimachinery/fields.ts';
import { collectionPath } from '../../../../../client/resource-path.ts';
import type { ApiKind } from '../../../cluster/plan/discovery.ts';

export interface Creation {
  /** `KIND NAME`, or what is known of it. */
  readonly title: string;
  /** Empty for an object without a namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly kind: ApiKind | undefined;
  readonly object: JsonObject;
  /** Path of the request; empty if there is a problem. */
  readonly path: string;
  /** Why the object cannot be sent. */
  readonly problem: string | undefined;
}

interface Target {
  readonly kinds: readonly ApiKind[];
  /** Namespace of objects that name none. */
  readonly namespace: string;
}

/** Returns the creations of documents in their order; the objects of a List one by one. */
export const creationsOf = (documents: readonly unknown[], target: Target): readonly Creation[] =>
  documents.flatMap(objectsIn).map((value) => creationOf(value, target));

function objectsIn(value: unknown): readonly unknown[] {
  const isList = isRecord(value) && value.kind === 'List' && Array.isArray(value.items);
  return isList ? recordsAt(value, 'items') : [value];
}

function creationOf(value: unknown, target: Target): Creation {
  if (!isRecord(value))
    return failed({}, 'a text', 'It is not an object: it needs apiVersion, kind and metadata.');
  const name = textAt(value, 'metadata', 'name') || textAt(value, 'metadata', 'generateName');
  const title = `${textAt(value, 'kind') || 'an object'} ${name}`.trim();
  const kind = kindOf(value, target.kinds);
  return typeof kind === 'string' ? failed(value, title, kind) : sent(value, title, kind, target.namespace);
}

/** Returns the kind in the version of the object, or why objects of it cannot be created. */
function kindOf(value: JsonObject, kinds: readonly ApiKind[]): ApiKind | string {
  const [apiVersion, word] = [textAt(value, 'apiVersion'), textAt(value, 'kind')];
  if (apiVersion === '' || word === '') return 'It needs apiVersion and kind.';
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const known = kinds.find((one) => one.kind === word && one.group === group);
  if (!known) return `The server has no kind ${word} in ${group || 'the core group'}.`;
  return known.verbs.includes('create') ? { ...known, version } : 'Objects of this kind are not created.';
}

function sent(value: JsonObject, title: string, kind: ApiKind, usual: string): Creation {
  const namespace = kind.namespaced ? textAt(value, 'metadata', 'namespace') || usual : '';
  const metadata = { ...recordAt(value, 'metadata'), ...(kind.namespaced && { namespace }) };
  return {
    ...{ title, namespace, kind, problem: undefined, name: textAt(value, 'metadata', 'name') },
    object: { ...value, metadata },
    path: collectionPath(kind, namespace),
  };
}

const failed = (object: JsonObject, title: string, problem: string): Creation => ({
  ...{ title, object, problem, namespace: '', name: '', kind: undefined, path: '' },
});

/**
 * Returns whether a refusal of the dry run may be for an earlier object of the same text that does not exist
 * yet: its namespace.
 */
export function mayComeLater(creation: Creation, earlier: readonly Creation[], code: number): boolean {
  return (
    code === 404 &&
    earlier.some(({ kind, name }) => kind?.key === 'namespaces' && name === creation.namespace)
  );
}
