/** A body of HTTP as JSON. Pure. */
import { maxDepth, maxValues, measureJson } from '../../apimachinery/value-limit.ts';

export interface BodyData {
  /** Its JSON, or its text; of other bytes their base64. */
  readonly body?: unknown;
  readonly isBase64?: true;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Levels of an object that holds the data, around them. */
const levelsAround = 20;

/** A body that says it is JSON and is none is text, and so is JSON that no stored object could hold. */
export function bodyData(contentType: string, bytes: Buffer): BodyData {
  if (bytes.length === 0) return {};
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { body: bytes.toString('base64'), isBase64: true };
  }
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const mayBeJson =
    type === '' || type === 'application/json' || type.endsWith('+json') || text.startsWith('{');
  if (mayBeJson) {
    try {
      measureJson(text, maxValues, maxDepth - levelsAround);
      return { body: JSON.parse(text) as unknown };
    } catch {
      // As it came.
    }
  }
  return { body: text };
}
