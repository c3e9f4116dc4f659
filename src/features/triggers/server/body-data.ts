/** Converts an HTTP body to JSON. Pure. */
import { maxDepth, maxValues, measureJson } from '../../../apimachinery/value-limit.ts';

export interface BodyData {
  /** JSON value of the body, or its text; base64 for other bytes. */
  readonly body?: unknown;
  readonly isBase64?: true;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Nesting levels of the object around the data. */
const levelsAround = 20;

/**
 * Converts a body. A body that is declared as JSON and is invalid becomes text, as does JSON that no stored
 * object could contain.
 */
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
      // The body is used as text.
    }
  }
  return { body: text };
}
