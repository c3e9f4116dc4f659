/**
 * The annotation in which `apply` keeps the manifest, byte for byte as kubectl writes it: kubectl and minik8s
 * can apply the same objects alternately.
 */
import { isRecord, type JsonObject, sortKeys } from '../../apimachinery/equality.ts';
import { goJson } from '../../apimachinery/go-json.ts';
import { lastAppliedAnnotation, lastAppliedText } from '../../apimachinery/last-applied.ts';
import { metadataOf, recordAt } from '../objects/objects.ts';

/** Returns the manifest with its own text in the annotation. */
export function withLastApplied(manifest: JsonObject): JsonObject {
  const metadata = recordAt(manifest, 'metadata');
  const annotations = recordAt(metadata, 'annotations');
  const text = lastAppliedText({ ...manifest, metadata: { ...metadata, annotations } });
  return {
    ...manifest,
    metadata: { ...metadata, annotations: { ...annotations, [lastAppliedAnnotation]: text } },
  };
}

/** Returns the merge patch that sets the annotation to the manifest, in kubectl's bytes. */
export function annotationPatch(manifest: JsonObject): JsonObject {
  const text = `${goJson(sortKeys(manifest))}\n`;
  return { metadata: { annotations: { [lastAppliedAnnotation]: text } } };
}

/** Returns the last applied manifest; undefined if the annotation is missing or does not hold an object. */
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
