/** Errors of CEL, in the words and the layout of upstream's compiler (cel-go). */

/**
 * One fault of an expression; `offset` counts UTF-16 code units, and is undefined for a fault of the whole.
 */
export interface Issue {
  readonly offset: number | undefined;
  readonly message: string;
}

/** An expression that does not compile, fails, or exceeds its cost limit. */
export class CelError extends Error {
  override readonly name = 'CelError';
}

/** An evaluation that has spent its budget. No operator of the expression absorbs it. */
export class CostError extends CelError {}

/** Maximum number of faults that one message reports. */
const maxIssues = 100;

/** Longest line that a message quotes. */
const maxSnippetLength = 16384;

/** Returns the error for faults of the expression: each has its position, its line, and a mark below it. */
export function compileError(expression: string, issues: readonly Issue[]): CelError {
  return new CelError(`compilation failed: ${renderIssues(expression, issues)}`);
}

export function renderIssues(expression: string, issues: readonly Issue[]): string {
  const sorted = issues.toSorted((left, right) => (left.offset ?? -1) - (right.offset ?? -1));
  const shown = sorted.slice(0, maxIssues).map((issue) => renderIssue(expression, issue));
  if (sorted.length > maxIssues) shown.push(`${sorted.length - maxIssues} more errors were truncated`);
  return shown.join('\n');
}

function renderIssue(expression: string, { offset, message }: Issue): string {
  if (offset === undefined) return `ERROR: <input>:-1:0: ${message}`;
  const before = expression.slice(0, offset);
  const start = before.lastIndexOf('\n') + 1;
  const end = expression.indexOf('\n', start);
  const line = expression.slice(start, end === -1 ? undefined : end);
  const lineNumber = before.split('\n').length;
  const passed = [...expression.slice(start, offset)];
  const head = `ERROR: <input>:${lineNumber}:${passed.length + 1}: ${message}`;
  if (expression === '' || line.length > maxSnippetLength) return head;
  const dots = passed.map((character) => (isWide(character) ? '．' : '.')).join('');
  const mark = isWide(expression.slice(offset, offset + 1)) ? '＾' : '^';
  return `${head}\n | ${line.replaceAll('\t', ' ')}\n | ${dots}${mark}`;
}

function isWide(character: string): boolean {
  return (character.codePointAt(0) ?? 0) > 0x7f;
}
