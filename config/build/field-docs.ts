/** Kubernetes' descriptions of its types and fields, for `kubectl explain` and the OpenAPI documents. */
import { typeLines } from '../../src/api/kubernetes-types.gen.ts';
import { readTexts } from './kubernetes-models.ts';

/**
 * Returns the descriptions by type, such as `core.v1.Pod`, then by field; the type's own description has an
 * empty name.
 */
export function fieldDocs(): Record<string, Record<string, string>> {
  const known = Object.keys(typeLines).map((type) => [type, readTexts(type)] as const);
  return Object.fromEntries(known.filter(([, texts]) => texts !== undefined)) as Record<
    string,
    Record<string, string>
  >;
}
