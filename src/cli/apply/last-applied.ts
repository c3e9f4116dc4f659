/** The annotation in which `apply` keeps the manifest, byte for byte as kubectl writes it: either may go on after the other. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordAt } from '../objects.ts';
import { sortKeys } from '../printers/object-format.ts';

export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** The manifest with its own text in the annotation. */
export function withLastApplied(manifest: JsonObject): JsonObject {
  const metadata = recordAt(manifest, 'metadata');
  const { [lastAppliedAnnotation]: _, ...annotations } = recordAt(metadata, 'annotations');
  const plain = { ...manifest, metadata: { ...metadata, annotations } };
  const text = `${escapeHtml(JSON.stringify(sortKeys(plain)))}\n`;
  return {
    ...manifest,
    metadata: { ...metadata, annotations: { ...annotations, [lastAppliedAnnotation]: text } },
  };
}

/** The last applied manifest; undefined when the annotation is missing or does not hold an object. */
export function readLastApplied(object: JsonObject): JsonObject | undefined {
  const text = metadataOf(object).annotations[lastAppliedAnnotation];
  if (!text) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Go's encoder always escapes these characters. */
const escapeHtml = (json: string) =>
  json.replaceAll(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
