/** Stores a result at a reference path (ResultPath). */
import { fieldOf, isJsonObject, isList, type Json } from '../json.ts';
import type { JsonPath, Step } from './json-path.ts';

/** The path does not exist and cannot be created. */
export class PutProblem extends Error {}

/**
 * Returns a copy of the document with the value at the path, which must be a reference. Missing fields are
 * created; an index must exist in the list. Throws PutProblem.
 */
export const putAt = (document: Json, path: JsonPath, value: Json): Json =>
  put(document, path.steps, 0, value);

function put(document: Json | undefined, steps: readonly Step[], depth: number, value: Json): Json {
  const selector = steps[depth]?.selectors[0];
  if (selector === undefined) return value;
  if (selector.type === 'name') {
    const { name } = selector;
    const fields = document === undefined ? {} : document;
    if (!isJsonObject(fields)) throw new PutProblem(`there is no object for the field ${name}`);
    return { ...fields, [name]: put(fieldOf(fields, name), steps, depth + 1, value) };
  }
  const index = selector.type === 'index' ? selector.index : -1;
  if (!isList(document)) throw new PutProblem(`there is no list for the index ${index}`);
  if (index >= document.length) throw new PutProblem(`the list has no index ${index}`);
  return document.with(index, put(document[index], steps, depth + 1, value));
}
