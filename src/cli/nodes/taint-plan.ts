/** The arguments of `ctl taint`, and the resulting taints of a node (kubectl's pkg/cmd/taint). Pure. */
import { checkLabelValue, checkQualifiedName } from '../../apimachinery/names.ts';
import { UsageError } from '../../base/usage-error.ts';

export interface Taint {
  readonly key: string;
  readonly value?: string;
  /** An empty effect in a removal stands for every effect. */
  readonly effect: string;
}

export interface TaintChanges {
  readonly add: readonly Taint[];
  readonly remove: readonly Taint[];
}

export interface TaintWords extends TaintChanges {
  /** The words before the taints: `nodes` and names. */
  readonly words: readonly string[];
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Reads `node n1 key=value:Effect key-`. Throws UsageError in kubectl's words. */
export function parseTaintWords(all: readonly string[]): TaintWords {
  const isTaint = (word: string) => /[=:]/.test(word) || word.endsWith('-');
  const first = all.findIndex(isTaint);
  const words = all.slice(0, first < 0 ? all.length : first);
  const texts = all.slice(words.length);
  const stray = texts.find((word) => !isTaint(word));
  if (stray !== undefined)
    throw new UsageError(`all resources must be specified before taint changes: ${stray}`);
  if (words.length === 0)
    throw new UsageError('one or more resources must be specified as <resource> <name>');
  if (texts.length === 0) throw new UsageError('at least one taint update is required');
  const remove = texts.filter((text) => text.endsWith('-')).map((text) => parseTaint(text.slice(0, -1)));
  const add = texts.filter((text) => !text.endsWith('-')).map(parseNewTaint);
  requireConsistent(add, remove);
  return { words, add, remove };
}

function parseNewTaint(text: string): Taint {
  const taint = parseTaint(text);
  if (taint.effect === '') throw new UsageError(`invalid taint spec: ${text}`);
  return taint;
}

function parseTaint(text: string): Taint {
  const [identity = '', effect, ...more] = text.split(':');
  if (more.length > 0) throw new UsageError(`invalid taint spec: ${text}`);
  if (effect === undefined) {
    requireValid(text, checkQualifiedName(text));
    return { key: text, effect: '' };
  }
  if (!effects.includes(effect))
    throw new UsageError(`invalid taint effect: ${effect}, unsupported taint effect`);
  const [key = '', value, ...rest] = identity.split('=');
  if (rest.length > 0) throw new UsageError(`invalid taint spec: ${text}`);
  requireValid(text, checkLabelValue(value ?? ''));
  requireValid(text, checkQualifiedName(key));
  return { key, ...(value && { value }), effect };
}

function requireValid(text: string, reasons: readonly string[]): void {
  if (reasons.length > 0) throw new UsageError(`invalid taint spec: ${text}, ${reasons.join('; ')}`);
}

function requireConsistent(add: readonly Taint[], remove: readonly Taint[]): void {
  const seen = new Set<string>();
  for (const { key, value = '', effect } of add) {
    if (seen.has(`${key}:${effect}`))
      throw new UsageError(`duplicated taints with the same key and effect: {${key} ${value} ${effect}}`);
    seen.add(`${key}:${effect}`);
  }
  const both = add.flatMap((taint) =>
    remove.filter((other) => covers(other, taint)).map(({ key, effect }) => `${key}=${effect}`),
  );
  if (both.length > 0)
    throw new UsageError(
      `cannot both modify and remove the following taint(s) in the same command: ${both.join(', ')}`,
    );
}

/** Returns true if a removal applies to this taint. */
const covers = (removal: Taint, { key, effect }: Taint) =>
  removal.key === key && (removal.effect === '' || removal.effect === effect);

const same = (a: Taint, b: Taint) => a.key === b.key && a.effect === b.effect;

export interface TaintOutcome<T extends Taint> {
  readonly taints: readonly (T | Taint)[];
  readonly done: 'tainted' | 'untainted' | 'modified';
}

/**
 * Returns the taints of a node after the change. Throws for an existing taint without `overwrite`, and for a
 * removal without a matching taint.
 */
export function changeTaints<T extends Taint>(
  nodeName: string,
  old: readonly T[],
  { add, remove }: TaintChanges,
  overwrite: boolean,
): TaintOutcome<T> {
  const clashing = old.filter((taint) => add.some((other) => same(taint, other))).map(({ key }) => key);
  if (clashing.length > 0 && !overwrite)
    throw new Error(
      `node ${nodeName} already has ${clashing.join(',')} taint(s) with same effect(s) and --overwrite is false`,
    );
  const all: (T | Taint)[] = [...add, ...old.filter((taint) => !add.some((other) => same(taint, other)))];
  const missing = remove.filter((removal) => !all.some((taint) => covers(removal, taint)));
  if (missing.length > 0) {
    const texts = missing.map(
      ({ key, effect }) => `taint ${JSON.stringify(key + (effect && `:${effect}`))} not found`,
    );
    throw new Error(texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`);
  }
  const taints = all.filter((taint) => !remove.some((removal) => covers(removal, taint)));
  if (overwrite || (add.length > 0 && remove.length > 0)) return { taints, done: 'modified' };
  return { taints, done: add.length > 0 ? 'tainted' : 'untainted' };
}
