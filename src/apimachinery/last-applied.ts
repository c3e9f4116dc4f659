/**
 * The annotation in which clients keep the configuration that they applied last, in exactly the bytes that
 * kubectl writes.
 */
import { isRecord, type JsonObject, sortKeys } from './equality.ts';
import { goJson } from './go-json.ts';

export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Returns the annotation's text for a configuration; an older annotation in the configuration is left out.
 */
export function lastAppliedText(configuration: JsonObject): string {
  const { metadata } = configuration;
  const plain =
    isRecord(metadata) && isRecord(metadata.annotations)
      ? { ...configuration, metadata: { ...metadata, annotations: withoutIt(metadata.annotations) } }
      : configuration;
  return `${goJson(sortKeys(plain))}\n`;
}

function withoutIt({ [lastAppliedAnnotation]: _, ...annotations }: JsonObject): JsonObject {
  return annotations;
}
