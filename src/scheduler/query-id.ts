/** Identifiers of queries. */
import { hash } from 'node:crypto';

/**
 * Maximum length of a plain identifier. A pod may have thousands of queries, each with a long description.
 */
const maxPlainLength = 200;

/** Returns an identifier of a JSON value: its text if it is short, otherwise a digest. */
export function queryId(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= maxPlainLength ? text : hash('sha256', text, 'base64url');
}
