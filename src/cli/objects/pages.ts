/** Lists in pages, for `--chunk-size`. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import { type CollectionTarget, listPath } from './object-target.ts';
import { textAt } from './objects.ts';

export const chunkSizeFlag = {
  'chunk-size': {
    type: 'string',
    hint: 'COUNT',
    about: 'objects per request of a large list',
    usual: '500; 0: all at once',
  },
} as const satisfies FlagTable;

export interface PageOptions {
  /** Number of objects per page; 0 for a single page. */
  readonly limit: number;
  readonly accept?: string;
  /** Additional query parameters. */
  readonly query?: Readonly<Record<string, string>>;
}

/** Returns the number of objects per request; throws UsageError for a negative number. */
export function chunkSizeOf(flags: Flags): number {
  const size = flags.whole('chunk-size') ?? 500;
  if (size < 0) throw new UsageError(`--chunk-size must be 0 or more, got ${size}`);
  return size;
}

/** Yields all pages of a list, one after the other. */
export async function* pages(
  cluster: Cluster,
  target: CollectionTarget,
  { limit, accept, query }: PageOptions,
): AsyncGenerator<JsonObject> {
  let next = '';
  do {
    const options = { ...query, limit: limit || undefined, continue: next || undefined };
    const page = await cluster.get(listPath(target, options), accept);
    yield page;
    next = textAt(page, 'metadata', 'continue');
  } while (next);
}
