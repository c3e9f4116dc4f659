/** What Kubernetes says of its types and fields, for `kubectl explain` and the OpenAPI documents. */
import { kubernetesTypes } from './kubernetes-models.ts';

/** By type, such as `V1Pod`, then by field; what is said of the type itself is under the empty name. */
export async function fieldDocs(): Promise<Record<string, Record<string, string>>> {
  const entries = (await kubernetesTypes()).map(({ name, description, fields }) => {
    const texts = fields.map((field) => [field.baseName, field.description]);
    return [name, { '': description, ...Object.fromEntries(texts) }] as const;
  });
  return Object.fromEntries(entries);
}
