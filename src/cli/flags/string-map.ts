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

/** Matches a quoted part, a comma, or other text; a quote that stays open reaches to the end. */
const csvPart = /"(?<quoted>(?:[^"]|"")*)"?|(?<comma>,)|(?<plain>[^",]+)/g;

/** Splits a line of comma-separated fields; within double quotes, `""` stands for one double quote. */
function commaFields(text: string): string[] {
  const fields = [''];
  for (const { groups: { quoted, comma, plain = '' } = {} } of text.matchAll(csvPart))
    if (comma !== undefined) fields.push('');
    else fields[fields.length - 1] += quoted?.replaceAll('""', '"') ?? plain;
  return fields;
}
