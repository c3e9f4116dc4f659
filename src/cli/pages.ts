/** Lists in pages, as `--chunk-size` has them. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { UsageError } from '../base/usage-error.ts';
import type { Cluster } from './cluster.ts';
import type { Flags, FlagTable } from './flags.ts';
import { textAt } from './objects.ts';
import { type CollectionTarget, listPath } from './targets.ts';

export const chunkSizeFlag = {
  'chunk-size': {
    type: 'string',
    hint: 'COUNT',
    about: 'how many objects a request may ask for',
    usual: '500; 0: all at once',
  },
} as const satisfies FlagTable;

export interface PageOptions {
  /** 0: all at once. */
  readonly limit: number;
  readonly accept?: string;
  /** More of the query. */
  readonly query?: Readonly<Record<string, string>>;
}

/** Objects a request; throws UsageError for a number below 0. */
export function chunkSizeOf(flags: Flags): number {
  const size = flags.whole('chunk-size') ?? 500;
  if (size < 0) throw new UsageError(`--chunk-size must be 0 or more, got ${size}`);
  return size;
}

/** All pages of a list, one after the other. */
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
