/** What Kubernetes says of its types and fields, for `kubectl explain` and the OpenAPI documents. */
import { typeLines } from '../../src/api/kubernetes-types.gen.ts';
import { kubernetesModels } from './kubernetes-models.ts';

/** By type, such as `core.v1.Pod`, then by field; what is said of the type itself is under the empty name. */
export async function fieldDocs(): Promise<Record<string, Record<string, string>>> {
  const models = new Map((await kubernetesModels()).map((model) => [model.name, model]));
  const entries = Object.keys(typeLines).flatMap((name) => {
    const found = modelNames(name)
      .map((model) => models.get(model))
      .find((model) => model !== undefined);
    if (!found) return [];
    const texts = found.fields.map((field) => [field.baseName, field.description]);
    return [[name, { '': found.description, ...Object.fromEntries(texts) }] as const];
  });
  return Object.fromEntries(entries);
}

/** client-node calls `core.v1.Event` CoreV1Event, since there are two, and `core.v1.Pod` V1Pod. */
function modelNames(type: string): string[] {
  const [group = '', version = '', name = ''] = type.split('.');
  return [`${capital(group)}${capital(version)}${name}`, `${capital(version)}${name}`];
}

const capital = (text: string) => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
