/** The annotation in which `apply` keeps the manifest, byte for byte as kubectl writes it: either may go on after the other. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { lastAppliedAnnotation, lastAppliedText } from '../../apimachinery/last-applied.ts';
import { metadataOf, recordAt } from '../objects.ts';

/** The manifest with its own text in the annotation. */
export function withLastApplied(manifest: JsonObject): JsonObject {
  const metadata = recordAt(manifest, 'metadata');
  const annotations = recordAt(metadata, 'annotations');
  const text = lastAppliedText({ ...manifest, metadata: { ...metadata, annotations } });
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
