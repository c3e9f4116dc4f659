/** Flags whose values are `KEY=VALUE`, or several of them separated by commas. Pure. */
import { UsageError } from '../../base/usage-error.ts';
import type { Flags } from './flags.ts';

/**
 * Returns the values by key; a later one replaces an earlier one. A value with a single `=` may contain
 * commas; with several, an entry with a comma is written in double quotes. Throws UsageError.
 */
export function stringMapOf(flags: Pick<Flags, 'texts'>, name: string): ReadonlyMap<string, string> {
  const entries = flags.texts(name).flatMap((text) => {
    const equals = text.split('=').length - 1;
    return equals === 1 ? [text.replaceAll(/^"+|"+$/g, '')] : commaFields(text);
  });
  return new Map(
    entries.map((entry) => {
      const at = entry.indexOf('=');
      if (at < 0) throw new UsageError(`--${name}: ${JSON.stringify(entry)} must be formatted as key=value`);
      return [entry.slice(0, at), entry.slice(at + 1)] as const;
    }),
  );
}

/** Splits a line of comma-separated fields; within double quotes, `""` stands for one double quote. */
function commaFields(text: string): string[] {
  const fields = [''];
  let isQuoted = false;
  let closedAt: number | undefined;
  const parts = text.split(/("|,)/);
  for (const [index, part] of parts.entries()) {
    if (part === ',' && !isQuoted) fields.push('');
    else if (part !== '"') fields[fields.length - 1] += part;
    else {
      // An empty part separates two quotes that follow one another.
      const isSecond = !isQuoted && closedAt === index - 2 && parts[index - 1] === '';
      if (isSecond) fields[fields.length - 1] += '"';
      if (isQuoted) closedAt = index;
      isQuoted = !isQuoted;
    }
  }
  return fields;
}
