/** The file that `ctl edit` opens in an editor, and the interpretation of the edited file. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { StatusError } from '../../apimachinery/status-error.ts';
import { textAt } from '../objects/objects.ts';

/** Reason why a file must be edited again. */
export interface EditReason {
  readonly head: string;
  readonly details: readonly string[];
}

export const objectIntroduction = `# Please edit the object below. Lines beginning with a '#' will be ignored,
# and an empty file will abort the edit. If an error occurs while saving this file will be
# reopened with the relevant failures.
#
`;

export const lastAppliedIntroduction = `# Please edit the 'last-applied-configuration' annotations below.
# Lines beginning with a '#' will be ignored, and an empty file will abort the edit.
#
`;

export function headerText(introduction: string, reasons: readonly EditReason[]): string {
  const blocks = reasons.map(({ head, details }) => {
    const lines = [`${head}${details.length > 0 ? ':' : ''}`, ...details.map((detail) => `* ${detail}`)];
    return `${lines.map((line) => `# ${line.replaceAll(/\n(?!#)/g, '\n# ')}\n`).join('')}#\n`;
  });
  return introduction + blocks.join('');
}

/**
 * Returns the text without the lines that begin with `#`. Indented ones are kept: they may be part of a value
 * of several lines, such as a script in a ConfigMap.
 */
export const withoutComments = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n');

/** Returns true for a text with nothing but comments and white space. */
export const isBlank = (text: string): boolean => text.split('\n').every((line) => /^\s*(#|$)/.test(line));

export type EditFailure =
  /** The server rejects the object: it must be edited again. */
  | { readonly kind: 'invalid'; readonly message: string; readonly reason: EditReason }
  /** The request failed: the edited file is kept. */
  | { readonly kind: 'failed'; readonly message: string };

/** Classifies the error of a patch; `what` is a name such as `deployments.apps "web"`. */
export function editFailure(error: unknown, what: string): EditFailure {
  if (!(error instanceof StatusError))
    return {
      kind: 'failed',
      message: `${what} could not be patched: ${error instanceof Error ? error.message : String(error)}`,
    };
  const { reason, details } = error.status;
  if (reason === 'NotFound') return { kind: 'failed', message: `${what} could not be found on the server` };
  if (reason !== 'Invalid' && reason !== 'BadRequest')
    return { kind: 'failed', message: `${what} could not be patched: ${error.message}` };
  const causes = (details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
  return {
    kind: 'invalid',
    message: `${what} is invalid`,
    reason: { head: `${what} was not valid`, details: causes.length > 0 ? causes : [error.message] },
  };
}

/** Returns true if an edit changed the identity of the object. */
export const isAnother = (before: JsonObject, after: JsonObject): boolean =>
  [['apiVersion'], ['kind'], ['metadata', 'name']].some(
    (path) => textAt(before, ...path) !== textAt(after, ...path),
  );
