/** Suggestions of the editor from the schema that the server publishes for a kind. */
import { apiVersionOf } from '../../../apimachinery/resource-definition.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { requestJson } from '../cluster/request.ts';
import type { EditorOptions, Suggested } from './editor.ts';
import { fieldsAt, valuesAt } from './plan/schema.ts';
import { yamlPlace } from './plan/yaml-place.ts';

const documents = new Map<string, Promise<unknown>>();

/** Requests the document of a kind's group once; after a failure the next editor requests it again. */
export function schemaDocument(kind: ApiKind): Promise<unknown> {
  const path = kind.group === '' ? `api/${kind.version}` : `apis/${apiVersionOf(kind)}`;
  let document = documents.get(path);
  if (!document) {
    document = requestJson<unknown>(`/openapi/v3/${path}`).catch(() => {
      documents.delete(path);
      return undefined;
    });
    documents.set(path, document);
  }
  return document;
}

export function suggestFrom(
  document: unknown,
  kind: ApiKind,
  text: string,
  offset: number,
): ReturnType<EditorOptions['suggest']> {
  const { path, key, word, from, siblings } = yamlPlace(text, offset);
  const list =
    key === ''
      ? fieldsAt(document, kind, path)
          .filter(({ label }) => !siblings.includes(label))
          .map(fieldOf)
      : valuesAt(document, kind, [...path, key]).map(choiceOf);
  return list.length === 0 || word.includes(' ') ? undefined : { from, list };
}

const fieldOf = ({
  label,
  type,
  description,
  isRequired,
}: ReturnType<typeof fieldsAt>[number]): Suggested => ({
  label,
  detail: isRequired ? `${type}, required` : type,
  info: description,
  insert:
    /^(object|string|integer|number|boolean|integer or string)$/.test(type) && type !== 'object'
      ? `${label}: `
      : `${label}:`,
});

const choiceOf = (label: string): Suggested => ({ label, detail: '', info: '', insert: label });
