/** Names of questions about pods. A pod may ask thousands of them, and each name what the pod says at length: names are short. */
import { hash } from 'node:crypto';

const longestPlain = 200;

/** One text for each value of JSON: itself while it is short, else a digest. */
export function queryId(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= longestPlain ? text : hash('sha256', text, 'base64url');
}
