/** Converts an HTTP body to JSON. Pure. */
import { maxDepth, maxValues, measureJson } from '../../../apimachinery/value-limit.ts';

export interface BodyData {
  /** JSON value of the body, else its text, or base64 if the bytes are not UTF-8. */
  readonly body?: unknown;
  readonly isBase64?: true;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Nesting levels reserved for the object that contains the data. */
const levelsAround = 20;

/**
 * Converts a body. JSON that is invalid, or has too many values or levels for a stored object, is kept as
 * text.
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
